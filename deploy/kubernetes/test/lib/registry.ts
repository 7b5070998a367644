import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A registry in memory with the endpoints that Helm uses, one request per blob:
 * https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
 */
export async function startRegistry(): Promise<{ server: Server; address: string; content: Map<string, Buffer> }> {
  const content = new Map<string, Buffer>();
  const types = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://registry");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
    if (request.method === "POST") return response.writeHead(202, { location: `${pathname}1` }).end();
    if (request.method === "PUT") {
      const location = pathname.replace(/uploads\/1$/, searchParams.get("digest") ?? "");
      for (const path of [location, location.replace(/[^/]+$/, digest)]) {
        content.set(path, body);
        types.set(path, request.headers["content-type"] ?? "");
      }
      return response.writeHead(201, { "docker-content-digest": digest, location }).end();
    }
    const found = content.get(pathname);
    if (pathname === "/v2/") return response.writeHead(200).end();
    if (!found) return response.writeHead(404).end();
    const storedDigest = `sha256:${createHash("sha256").update(found).digest("hex")}`;
    const headers = {
      "content-type": types.get(pathname),
      "content-length": found.length,
      "docker-content-digest": storedDigest,
    };
    return response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : found);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}`, content };
}
