/** What the ingest does with envelopes whose first item is of this type (or any, without one); the first rule that fits counts. */
export interface Rule {
  item?: string;
  /** Refuses connections, and cuts those that there are. */
  gone?: boolean;
  /** Answers with this status instead of taking the envelope. */
  status?: number;
  headers?: Record<string, string>;
  /** Waits before anything else, in ms. */
  delay?: number;
  /** Cuts the connection: when the first byte of the body has come, or after the envelope was taken. */
  cut?: "body" | "answer";
}

/** One request that reached the ingest. `status` is 0 where the connection was cut. */
export interface Seen {
  at: number;
  item: string;
  status: number;
}
