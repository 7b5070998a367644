/** A fault for envelopes whose first item has this type (any type if it is missing); the first matching rule applies. */
export interface Rule {
  item?: string;
  /** Refuses connections, and closes the open ones. */
  gone?: boolean;
  /** Answers with this status instead of accepting the envelope. */
  status?: number;
  headers?: Record<string, string>;
  /** Waits this many ms first. */
  delay?: number;
  /** Cuts the connection: at the first byte of the body, or after the envelope was accepted. */
  cut?: "body" | "answer";
}

/** One request that reached the ingest. `status` is 0 if the connection was cut. */
export interface Seen {
  at: number;
  item: string;
  status: number;
}
