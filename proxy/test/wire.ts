import { request as httpsRequest } from "node:https";

/** One HTTPS request to the proxy. */
export interface Request {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** The name asked for in TLS and in Host; default localhost. */
  host?: string;
}

/** The answer, with its body as text. `headers` are Node's: lower-case names, repeated ones joined. */
export interface Response {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends one request over HTTP/1.1 and TLS to the proxy at this port, on a connection of its own; throws when the connection fails. */
export function send(
  port: number,
  { method = "GET", path, headers = {}, body, host = "localhost" }: Request,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      {
        ...{ host: "127.0.0.1", port, servername: host, method, path, agent: false, rejectUnauthorized: false },
        headers: { host: `${host}:${port}`, ...headers },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
