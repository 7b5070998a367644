/**
 * The parts that `withCulvert` can switch off, and the variable that says so. `next build` replaces each `process.env.CULVERT_…` by its
 * value, so a part that is off is not in the browser's bundle. That works only where the variable is written out: read it in place.
 */
export const PART_VARIABLES = {
  browserSettings: "CULVERT_BROWSER_SETTINGS",
  pageTrace: "CULVERT_PAGE_TRACE",
  offlineQueue: "CULVERT_OFFLINE_QUEUE",
  serverTransport: "CULVERT_SERVER_TRANSPORT",
  requestIds: "CULVERT_REQUEST_IDS",
  eventFilters: "CULVERT_EVENT_FILTERS",
  scrubbing: "CULVERT_SCRUBBING",
  shutdown: "CULVERT_SHUTDOWN",
  fairQueue: "CULVERT_FAIR_QUEUE",
  sessions: "CULVERT_SESSIONS",
  sendOutcomes: "CULVERT_SEND_OUTCOMES",
} as const;

export type Part = keyof typeof PART_VARIABLES;

/** Parts that are off unless switched on. */
export const OFF_BY_DEFAULT: readonly Part[] = ["sendOutcomes"];
