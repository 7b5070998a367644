/** The texts of the error page. */
export const ERROR_MESSAGES = {
  server: "Application error: a server-side exception has occurred",
  browser: "Application error: a client-side exception has occurred",
  digest: "Digest: ",
  advice: "Trying again may help. If it does not, quote these to the operator of this site:",
  request: "Request id",
  event: "Event id",
  none: "–",
  retry: "Try again",
  back: "Back to the start page",
} as const;
