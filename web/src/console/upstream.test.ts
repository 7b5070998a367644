import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { callUpstream } from "./upstream";

const servers: ReturnType<typeof createServer>[] = [];

async function upstream(answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test("an echo shows the headers of the call", async () => {
  const address = await upstream((_request, response) => response.end('{"sentry-trace":"a","baggage":null}'));
  expect(await callUpstream(address)).toEqual({ received: { "sentry-trace": "a", baggage: null, traceparent: null } });
});

test("an API without an echo, and one that fails, are problems", async () => {
  const api = await upstream((_request, response) => response.end("[1, 2]"));
  expect(await callUpstream(api)).toEqual({ problem: "it does not echo trace headers as /api/echo does" });
  const broken = await upstream((_request, response) => response.writeHead(503).end());
  expect(await callUpstream(broken)).toEqual({ problem: "it responds with 503" });
});

test("an API that cannot be reached, or hangs, does not fail the page", async () => {
  expect(await callUpstream(new URL("http://127.0.0.1:1/"))).toEqual({
    problem: expect.stringContaining("it cannot be reached"),
  });
  const hanging = await upstream(() => {});
  expect(await callUpstream(hanging, 50)).toEqual({ problem: expect.stringContaining("it cannot be reached") });
});
