import { Agent, request } from "node:https";

// No limit on connections: a request that waits must not delay another one.
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

/** The end of an error before the request was sent: the proxy passes on no incomplete body (proxy_request_buffering). */
export const unsent = " before it was sent";

/**
 * Sends a request to the proxy, a POST if there is a body; resolves with the status, or with the error if there was no response, and
 * whether that was before the request was sent.
 */
export function requestProxy(
  proxy: { host: string; port: number },
  path: string,
  body?: Buffer,
): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { ...proxy, path, agent, method: body ? "POST" : "GET", servername: "localhost" };
    const headers = { host: "localhost", ...(body && { "content-type": "text/plain" }) };
    const outgoing = request({ ...options, headers, timeout: 120_000 }, (response) => {
      response.resume().on("error", () => {});
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("close", () => resolve("cut"));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(`${code ?? message}${outgoing.writableFinished ? "" : unsent}`),
    );
    outgoing.end(body);
  });
}
