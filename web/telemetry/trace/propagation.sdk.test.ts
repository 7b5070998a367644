import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { init, startSpan } from "@sentry/nextjs";
import { expect, test } from "vitest";
import { serverOptions } from "../options/server.js";
import { parseSettings } from "../settings/settings.js";

const NAMES = ["sentry-trace", "baggage", "traceparent"];

test("the SDK sends trace headers to the origins of setting and app, and to no other host", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const origin = async () => {
    const server = createServer((request, response) => response.end(String(seen.push(request.headers)))).unref();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const [named, ofTheApp, foreign] = [await origin(), await origin(), await origin()];
  const settings = parseSettings({ SENTRY_DSN: "http://culvert@127.0.0.1:9/1", TRACE_PROPAGATION_TARGETS: named });
  const transport = () => ({ send: async () => ({ statusCode: 200 }), flush: async () => true });
  init(serverOptions(settings, { tracePropagationTargets: [new RegExp(`^${ofTheApp}/`)], transport }));

  await startSpan({ name: "page" }, async () => {
    for (const to of [named, ofTheApp, foreign]) await (await fetch(`${to}/?next=${named}/`)).text();
  });

  expect(seen.map((headers) => NAMES.filter((name) => name in headers))).toEqual([NAMES, NAMES, []]);
});
