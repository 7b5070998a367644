import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { askUpstream } from "./upstream";

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

test("an echo shows what the call carried", async () => {
  const address = await upstream((_request, response) => response.end('{"sentry-trace":"a","baggage":null}'));
  expect(await askUpstream(address)).toEqual({ saw: { "sentry-trace": "a", baggage: null, traceparent: null } });
});

test("an API that is no echo, and one that fails, are named as the problem", async () => {
  const api = await upstream((_request, response) => response.end("[1, 2]"));
  expect(await askUpstream(api)).toEqual({ problem: "it does not echo trace headers as /api/echo does" });
  const broken = await upstream((_request, response) => response.writeHead(503).end());
  expect(await askUpstream(broken)).toEqual({ problem: "it answers 503" });
});

test("one that can't be reached, or hangs, does not take the page with it", async () => {
  expect(await askUpstream(new URL("http://127.0.0.1:1/"))).toEqual({
    problem: expect.stringContaining("it can't be reached"),
  });
  const hanging = await upstream(() => {});
  expect(await askUpstream(hanging, 50)).toEqual({ problem: expect.stringContaining("it can't be reached") });
});
