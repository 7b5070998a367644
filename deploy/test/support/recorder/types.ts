/** One request as it arrived. `rawHeaders` alternates names and values, in the order and case of the wire; `body` is base64. */
export interface RecordedRequest {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
}

/** What the recorder does with a request. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
  /** Sent after `body`, but only once the test says so (`Recorder.proceed`): a page that is still being rendered. */
  rest?: string;
  /** Instead of answering: `hang` keeps the connection open, `reset` cuts it. */
  instead?: "hang" | "reset";
  /** Only for bodies that contain this; the others get 200. */
  only?: string;
}
