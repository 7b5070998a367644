import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { matches, type Resource } from "./objects.ts";

/** How a command in a container ends. */
export type Exec = (pod: string, command: string[]) => { code: number; output: string };

/**
 * The part of the Kubernetes API that verify/ uses: lists with equality selectors, and exec by the protocol v4.channel.k8s.io. `objects`
 * is asked anew for each list, so that a test can change it.
 */
export async function startApiServer(objects: () => Resource[], exec: Exec): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://api");
    const kinds = pathname.split("/").at(-1)?.replace("policies", "policys");
    const selector = searchParams.get("labelSelector")?.split(",").filter(Boolean) ?? [];
    const wanted = Object.fromEntries(selector.map((pair) => pair.split("=")));
    const items = objects().filter(
      ({ kind, metadata }) => `${kind.toLowerCase()}s` === kinds && matches(wanted, metadata.labels),
    );
    response.writeHead(request.headers.authorization === "Bearer token" ? 200 : 401).end(JSON.stringify({ items }));
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => "v4.channel.k8s.io" });
  sockets.on("connection", (socket, { url = "" }) => {
    const { pathname, searchParams } = new URL(url, "http://api");
    end(socket, exec(pathname.split("/").at(-2) ?? "", searchParams.getAll("command")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function end(socket: WebSocket, { code, output }: ReturnType<Exec>): void {
  const causes = [{ reason: "ExitCode", message: `${code}` }];
  const status = code === 0 ? { status: "Success" } : { status: "Failure", details: { causes } };
  socket.send(Buffer.concat([Buffer.of(1), Buffer.from(output)]));
  socket.send(Buffer.concat([Buffer.of(3), Buffer.from(JSON.stringify(status))]));
  socket.close(1000);
}
