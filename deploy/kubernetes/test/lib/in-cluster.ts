// What runs in pods of real-cluster.ts: each function as text, with `createServer` and `request` of Node.
import { createServer } from "node:http";
import { request } from "node:https";

/** The far end: counts envelopes by their id. Port 9001: /ids, /down refuses connections until /up. */
export function ingest() {
  const ids: Record<string, number> = {};
  const server = createServer((incoming, response) => {
    let text = "";
    const end = () => {
      // Not those of web, which may be compressed.
      const [, id] = /^{"event_id":"(\w+)"/.exec(text) ?? [];
      if (id) ids[id] = (ids[id] ?? 0) + 1;
      response.end("{}");
    };
    const add = (bytes: Buffer) => {
      text += bytes;
    };
    incoming
      .on("data", add)
      .on("end", end)
      .on("error", () => undefined);
  }).listen(9000);
  createServer(({ url }, response) => {
    if (url === "/down") server.close().closeAllConnections();
    if (url === "/up") server.listen(9000);
    response.end(JSON.stringify(ids));
  }).listen(9001, "127.0.0.1");
}

/**
 * From /start to /stop, five pages and five envelopes a second, each over a connection of its own. Each page requests another one of its
 * own release: `other` counts those that another release has answered.
 */
export function visitor() {
  let timers: NodeJS.Timeout[] = [];
  const open = new Set<Promise<void>>();
  const nothing = () => ({ requests: 0, failed: {} as Record<string, number>, other: 0, accepted: [] as string[] });
  let said = nothing();
  const common = { host: "culvert-proxy", servername: "app.test", rejectUnauthorized: false, agent: false as const };
  /** Returns the deployment that has answered, empty if it is unknown; undefined if the request failed. */
  const ask = async (path: string, headers: Record<string, string>, body = "") => {
    said.requests += 1;
    const options = { ...common, path, headers: { Host: "app.test", ...headers }, method: body ? "POST" : "GET" };
    let deployment = "";
    const answer = await new Promise<string>((resolve) => {
      const asked = request({ ...options, timeout: 20_000 }, (response) => {
        deployment = String(response.headers["x-nextjs-deployment-id"] ?? "");
        const end = () => resolve(String(response.statusCode));
        response
          .resume()
          .on("end", end)
          .on("error", ({ message }) => resolve(message));
      });
      asked.on("timeout", () => asked.destroy(new Error("timeout"))).on("error", ({ message }) => resolve(message));
      asked.end(body);
    });
    // Next redirects a request of its router without the hash of its headers.
    if (/^(200|307)$/.test(answer)) return deployment;
    said.failed[answer] = (said.failed[answer] ?? 0) + 1;
    return undefined;
  };
  const visit = async () => {
    await ask("/", {});
    const deployment = await ask("/", { RSC: "1" });
    const next = deployment && (await ask("/", { RSC: "1", "X-Deployment-Id": deployment }));
    if (next && next !== deployment) said.other += 1;
  };
  const report = async () => {
    const id = crypto.randomUUID().replaceAll("-", "");
    const envelope = `{"event_id":"${id}"}\n{"type":"event"}\n{"message":"test"}`;
    const isAccepted = await ask("/monitoring", { "Content-Type": "text/plain;charset=UTF-8" }, envelope);
    if (isAccepted !== undefined) said.accepted.push(id);
  };
  const every = (milliseconds: number, run: () => Promise<void>) =>
    setInterval(() => {
      const promise = run().finally(() => open.delete(promise));
      open.add(promise);
    }, milliseconds);
  createServer(async ({ url }, response) => {
    if (url === "/start") {
      said = nothing();
      timers = [every(200, visit), every(200, report)];
    }
    if (url === "/stop") {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(open);
    }
    response.end(JSON.stringify(said));
  }).listen(9001, "127.0.0.1");
}
