import { gunzipSync } from "node:zlib";
import type { Answer, RecordedRequest } from "./types.ts";

/** One item of a Sentry envelope; its payload is parsed if it is JSON, else text. */
export interface Item {
  header: { type: string; length?: number };
  // biome-ignore lint/suspicious/noExplicitAny: payloads have one shape per item type and SDK version; tests name what they read
  payload: any;
}

export interface Envelope {
  request: RecordedRequest;
  header: { event_id?: string; dsn?: string; sdk?: { name: string }; trace?: Record<string, string> };
  items: Item[];
}

/** The last value of a header, by its case-insensitive name; undefined if the request has none. */
export function headerOf({ rawHeaders }: RecordedRequest, name: string): string | undefined {
  const isName = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === name.toLowerCase();
  const index = rawHeaders.findLastIndex(isName);
  return index < 0 ? undefined : rawHeaders[index + 1];
}

export const bodyOf = ({ body }: RecordedRequest): string => Buffer.from(body, "base64").toString();

const envelopes = new WeakMap<RecordedRequest, Envelope>();

/** Splits an envelope, once for each request: https://develop.sentry.dev/sdk/foundations/transport/envelopes/ */
export function envelopeOf(request: RecordedRequest): Envelope {
  const known = envelopes.get(request);
  if (known) return known;
  let rest = Buffer.from(request.body, "base64");
  if (headerOf(request, "content-encoding") === "gzip") rest = gunzipSync(rest);
  const take = (end: number) => {
    const part = rest.subarray(0, end);
    rest = rest.subarray(end + 1);
    return part.toString();
  };
  const line = () => take(rest.indexOf("\n") === -1 ? rest.length : rest.indexOf("\n"));
  const header = JSON.parse(line());
  const items: Item[] = [];
  while (rest.length > 0) {
    const itemHeader = JSON.parse(line());
    const text = itemHeader.length === undefined ? line() : take(itemHeader.length);
    items.push({ header: itemHeader, payload: parsed(text) });
  }
  const envelope = { request, header, items };
  envelopes.set(request, envelope);
  return envelope;
}

/** Parses JSON; a replay's recording begins like JSON and continues in binary. */
function parsed(text: string): unknown {
  try {
    return text.startsWith("{") ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

/** Reads and controls a running recorder by its control address, by default that of the tests' stack. */
export class Recorder {
  private readonly control: string;
  /** Each request is fetched once. A recorder that is restarted needs a new client. */
  private readonly fetched: RecordedRequest[] = [];

  constructor(control = `http://127.0.0.1:${process.env.RECORDER_PORT}`) {
    this.control = control;
  }

  /** All requests received so far, without the first `mark`. */
  async all(mark = 0): Promise<RecordedRequest[]> {
    await this.fetchNew();
    return this.fetched.slice(mark);
  }

  /** The number of requests received so far, to pass to `all` or `waitFor` as `mark`. */
  async count(): Promise<number> {
    return Number(await (await fetch(`${this.control}/count`)).text());
  }

  /** Waits until `find` returns something for a request after `mark`; throws with what was received. */
  async waitFor<T>(find: (request: RecordedRequest) => T | undefined, mark = 0): Promise<T> {
    const end = Date.now() + 600_000;
    const seen: string[] = [];
    for (let next = mark; Date.now() < end; await this.fetchNew(60_000)) {
      for (const request of this.fetched.slice(next)) {
        next += 1;
        const found = find(request);
        if (found !== undefined) return found;
        seen.push(`${request.method} ${request.url}`);
      }
    }
    throw new Error(`not received; received instead: ${seen.join(", ") || "nothing"}`);
  }

  /** Waits for a request after `mark` that contains this text: the spool sends it again after up to minutes. */
  waitForText = (text: string, mark = 0) =>
    this.waitFor((request) => bodyOf(request).includes(text) || undefined, mark);

  answer = (answer: Answer) => this.put("answer", answer);
  proceed = () => this.put("proceed");
  /** Forgets requests and answer; only before anything sends to it, and for a new client. */
  reset = () => this.put("reset");

  private async put(path: string, body?: Answer): Promise<void> {
    await fetch(`${this.control}/${path}`, { method: "PUT", body: JSON.stringify(body) });
  }

  /** Fetches the requests that this client does not have yet; waits up to `wait` ms for the first. */
  private async fetchNew(wait = 0): Promise<void> {
    const after = this.fetched.length;
    const answer = await fetch(`${this.control}/requests?after=${after}&wait=${wait}`);
    const requests = (await answer.json()) as RecordedRequest[];
    // Another call may have fetched some meanwhile.
    this.fetched.push(...requests.slice(this.fetched.length - after));
  }
}
