/** The error catalogue's words, for React's error page and for the one that needs no script. */
export const WORDS = {
  happened: { before: "Application error: a ", after: " exception has occurred" },
  server: "server-side",
  browser: "client-side",
  digest: "Digest: ",
  advice: "Trying again may help. If it does not, quote these to whoever runs this site:",
  request: "Request id",
  event: "Event id",
  none: "–",
  retry: "Try again",
  back: "Back to the overview",
} as const;
