/** One request as it arrived. `rawHeaders` alternates names and values, in the order and case of the wire; `body` is base64. */
export interface RecordedRequest {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
}

/** What the recorder answers from now on. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
}
