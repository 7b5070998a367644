/** A request as received. `rawHeaders` alternates names and values; `body` is base64; `port` tells the connection from others. */
export interface RecordedRequest {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
  port?: number | undefined;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
  /** Sent after `body`, but not before `Recorder.proceed`: a page that is still being rendered. */
  rest?: string;
  /** Instead of an answer: `hang` keeps the connection open, `reset` closes it, `raw` sends the body's bytes alone and closes it. */
  instead?: "hang" | "reset" | "raw";
  /** For bodies that contain this text only; others get 200. */
  only?: string;
}
