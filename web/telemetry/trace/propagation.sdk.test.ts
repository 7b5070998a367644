import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { init, startSpan } from "@sentry/nextjs";
import { afterAll, expect, test } from "vitest";
import { serverOptions } from "../options/server.js";
import { parseSettings } from "../settings/settings.js";

const NAMES = ["sentry-trace", "baggage", "traceparent"];
const seen: IncomingHttpHeaders[] = [];
const servers = [0, 1, 2].map(() =>
  createServer((request, response) => response.end(String(seen.push(request.headers)))),
);

async function origins() {
  await Promise.all(servers.map((server) => new Promise<void>((up) => server.listen(0, "127.0.0.1", up))));
  return servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}
afterAll(() => {
  for (const server of servers) server.close();
});

test("the SDK sends trace headers to the named origins, and to no other host", async () => {
  const [upstream = "", further = "", foreign = ""] = await origins();
  const settings = parseSettings({
    SENTRY_DSN: "http://culvert@127.0.0.1:9/1",
    TRACE_PROPAGATION_TARGETS: further,
  });
  const send = async () => ({ statusCode: 200 });
  const ofTheApp = [new RegExp(`^${upstream}/`)];
  const transport = () => ({ send, flush: async () => true });
  init(serverOptions(settings, { tracePropagationTargets: ofTheApp, transport }));

  await startSpan({ name: "page" }, async () => {
    for (const origin of [upstream, further, foreign]) await (await fetch(`${origin}/?next=${upstream}/`)).text();
  });

  expect(seen.map((headers) => NAMES.filter((name) => name in headers))).toEqual([NAMES, NAMES, []]);
});
