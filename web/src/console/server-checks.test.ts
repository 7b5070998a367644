import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { parseSettings } from "../settings";
import { checkIngest, checkSpool, checkUpstream } from "./server-checks";

const dsnOf = (dsn: string) => parseSettings({ SENTRY_DSN: dsn }).dsn;

vi.mock("@sentry/nextjs", () => ({ suppressTracing: (act: () => unknown) => act() }));

async function startServer(status: number, headers: Record<string, string> = {}, body = "{}") {
  const requests: { url?: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let received = "";
    for await (const chunk of request) received += chunk;
    requests.push({ url: request.url, body: received });
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, requests, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.each([
  [200, "good", undefined],
  [403, "bad", expect.stringContaining("know the key of SENTRY_DSN")],
])("an ingest that responds with %i is %s", async (status, state, problem) => {
  const { server, requests, host } = await startServer(status);
  const check = await checkIngest({ dsn: dsnOf(`http://key@${host}/prefix/7`), serverTunnel: undefined });
  server.close();
  expect(check).toEqual({ state, latencyMs: expect.any(Number), problem });
  expect(requests[0]?.url).toBe("/prefix/api/7/envelope/");
  expect(requests[0]?.body.split("\n").map((line) => JSON.parse(line))).toMatchObject([
    { dsn: `http://key@${host}/prefix/7` },
    { type: "client_report" },
    { discarded_events: [] },
  ]);
});

describe("with envelopes through the proxy", () => {
  const dsn = dsnOf("http://key@nowhere.invalid/7");
  test.each([
    [200, {}, "good", undefined],
    [200, { "x-envelope-outcome": "queued" }, "bad", expect.stringContaining("The spool queues them")],
    [503, {}, "bad", expect.stringContaining("The proxy cannot reach the ingest")],
    [403, {}, "bad", expect.stringContaining("know the key of SENTRY_DSN")],
  ])("its response %i %j is %s", async (status, headers, state, problem) => {
    const { server, requests, host } = await startServer(status, headers);
    const check = await checkIngest({ dsn, serverTunnel: new URL(`http://${host}/envelopes`) });
    server.close();
    expect(check).toEqual({ state, latencyMs: expect.any(Number), problem });
    expect(requests).toMatchObject([{ url: "/envelopes", body: expect.stringContaining("discarded_events") }]);
  });

  test("the spool's metrics are read", async () => {
    const { server, requests, host } = await startServer(
      200,
      {},
      'culvert_spool_queued_envelopes{category="error"} 4\n',
    );
    expect(await checkSpool({ spoolUpstream: new URL(`http://${host}`) })).toMatchObject({
      problem: expect.stringMatching(/^4 events are queued/),
    });
    server.close();
    expect(requests[0]?.url).toBe("/metrics");
    expect(await checkSpool({ spoolUpstream: undefined })).toMatchObject({ state: "unknown" });
  });
});

test("an upstream where nothing listens is named", async () => {
  const { server, host } = await startServer(200);
  await new Promise((closed) => server.close(closed));
  expect(await checkUpstream(new URL(`http://${host}/`))).toMatchObject({
    state: "bad",
    problem: `Nothing listens at ${host}: start it, or check the port in UPSTREAM_URL.`,
  });
});

test("without a DSN there is nothing to check", async () => {
  expect(await checkIngest({ dsn: undefined, serverTunnel: undefined })).toMatchObject({ state: "unknown" });
});
