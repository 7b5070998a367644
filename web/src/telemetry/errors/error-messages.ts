/** The texts of the error page, the one that React renders and the one without JavaScript. */
export const ERROR_MESSAGES = {
  happened: { before: "Application error: a ", after: " exception has occurred" },
  server: "server-side",
  browser: "client-side",
  digest: "Digest: ",
  advice: "Trying again may help. If it does not, quote these to the operator of this site:",
  request: "Request id",
  event: "Event id",
  none: "–",
  retry: "Try again",
  back: "Back to the overview",
} as const;
