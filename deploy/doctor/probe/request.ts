import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { openTls, type Target, TIMEOUT_MS } from "./target.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Returns the value of `sentry-trace` for a new trace that is not sampled: Sentry's SDK in the app records nothing of the request. */
export const unsampledTrace = () => `${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-0`;

/** Sends one request to the target over TLS, without verifying its certificate, and returns the answer. Rejects without one. */
export async function request(target: Target, path: string, sent: Sent = {}): Promise<Answer> {
  const socket = await openTls(target);
  const host = target.publicPort ? `${target.name}:${target.publicPort}` : target.name;
  return exchange({ createConnection: () => socket, path, headers: { Host: host } }, sent);
}

/** Sends one request and returns the answer; no redirect is followed. Rejects without an answer, or after `TIMEOUT_MS`. */
export function exchange(options: RequestOptions, { method = "GET", headers, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        ...options,
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          "User-Agent": "culvert-doctor",
          "sentry-trace": unsampledTrace(),
          Connection: "close",
          ...options.headers,
          ...headers,
        } as Record<string, string>,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          if (text.length < 1_000_000) text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
        response.on("error", reject);
      },
    );
    request.on("error", reject).end(body);
  });
}
