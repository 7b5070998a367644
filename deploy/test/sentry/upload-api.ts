import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** An uploaded artifact bundle: its bytes and the fields of the assemble request. */
export interface Bundle {
  bytes: Buffer;
  projects: string[];
  version?: string | null;
}

/** A Sentry that accepts source maps only, and records them. */
export interface UploadApi {
  port: number;
  /** The distinct Authorization headers of all requests. */
  credentials: Set<string>;
  /** Unknown requests, as method and path. */
  unknown: string[];
  bundles: Bundle[];
  close(): void;
}

const sha1 = (bytes: Buffer) => createHash("sha1").update(bytes).digest("hex");

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Starts it on all addresses, so that an image's build can reach it. Implements the part of Sentry's API that sentry-cli uses for artifact
 * bundles: GET chunk-upload returns the limits, POST chunk-upload stores chunks, assemble joins them.
 */
export async function startUploadApi(organisation: string): Promise<UploadApi> {
  const chunks = new Map<string, Buffer>();
  const api = { credentials: new Set<string>(), unknown: [] as string[], bundles: [] as Bundle[] };
  const base = `/api/0/organizations/${organisation}`;

  const handle = async (request: IncomingMessage): Promise<unknown> => {
    const endpoint = `${request.method} ${request.url?.split("?")[0]}`;
    const body = await bodyOf(request);
    if (endpoint === `GET ${base}/chunk-upload/`)
      return { url: `http://${request.headers.host}${base}/chunk-upload/`, ...LIMITS };
    if (endpoint === `POST ${base}/chunk-upload/`) return storeChunks(request, body);
    if (endpoint === `POST ${base}/artifactbundle/assemble/`) return assemble(JSON.parse(body.toString()));
    api.unknown.push(endpoint);
    return undefined;
  };

  const storeChunks = async (request: IncomingMessage, body: Buffer) => {
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": request.headers["content-type"] ?? "" },
    }).formData();
    for (const [field, value] of form) {
      const bytes = Buffer.from(await (value as File).arrayBuffer());
      const chunk = field === "file_gzip" ? gunzipSync(bytes) : bytes;
      chunks.set(sha1(chunk), chunk);
    }
    return {};
  };

  const assemble = ({ chunks: names, ...bundle }: Omit<Bundle, "bytes"> & { chunks: string[] }) => {
    const missingChunks = names.filter((name) => !chunks.has(name));
    if (missingChunks.length > 0) return { state: "not_found", missingChunks };
    api.bundles.push({ ...bundle, bytes: Buffer.concat(names.map((name) => chunks.get(name) as Buffer)) });
    return { state: "ok", missingChunks: [] };
  };

  const server = createServer((request, response) => {
    api.credentials.add(request.headers.authorization ?? "none");
    handle(request).then(
      (found) =>
        response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(found ?? {})),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((ready) => server.listen(0, "0.0.0.0", ready));
  return { ...api, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const LIMITS = {
  chunkSize: 8 << 20,
  chunksPerRequest: 64,
  maxFileSize: 1 << 30,
  maxRequestSize: 32 << 20,
  concurrency: 4,
  hashAlgorithm: "sha1",
  compression: ["gzip"],
  accept: ["release_files", "sources", "artifact_bundles", "artifact_bundles_v2"],
};
