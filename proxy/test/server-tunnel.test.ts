import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { envelope, ok, threeProjects, useProxy } from "./use-proxy.ts";
import { fetchOnce } from "./wire.ts";

const shared = useProxy({ ...threeProjects(), TUNNEL_RATE_PER_CLIENT: "1" }, { spool: true });

/** Posts an envelope as web does (Node's SDK names no type), or what `init` says; with what ingest and web heard of it. */
async function post(path = "/envelopes", init: RequestInit = {}) {
  const [ingestMark, webMark] = [await shared.proxy.ingest.count(), await shared.proxy.web.count()];
  const request = { method: "POST", body: Buffer.from(envelope), ...init };
  const answer = await fetchOnce(`${shared.proxy.at(8083)}${path}`, request);
  const body = await answer.text();
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  const received = await shared.proxy.ingest.all(ingestMark);
  return { answer, body, received, web: (await shared.proxy.web.count()) - webMark };
}

describe("an envelope of web itself", () => {
  test("reaches the ingest byte for byte, with allowed headers only", async () => {
    const headers = {
      ...{ "user-agent": "sentry.javascript.nextjs/10", cookie: "session=1", authorization: "Bearer 1" },
      ...{ "x-sentry-auth": "Sentry sentry_key=1", "x-forwarded-for": "6.6.6.6" },
      "x-spool-destination": "http://evil.example/",
    };
    const { answer, body, received } = await post("/envelopes", { headers });
    expect([answer.status, body]).toEqual([200, ""]);
    const bytes = Buffer.from(envelope).toString("base64");
    expect(received).toMatchObject([{ method: "POST", url: "/prefix/api/7/envelope/", body: bytes }]);
    const names = received[0]?.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    // No client IP: that of a container says nothing.
    expect(names?.sort()).toEqual(["content-length", "host", "user-agent"]);
    expect(received[0] && headerOf(received[0], "user-agent")).toBe("sentry.javascript.nextjs/10");
  });

  test("is not limited as clients are, and does not use up their limits", async () => {
    for (let n = 0; n < 24; n++) {
      const address = `${shared.proxy.at(8083)}/envelopes`;
      const requests = Array.from({ length: 50 }, () => fetch(address, { method: "POST", body: envelope }));
      for (const answer of await Promise.all(requests)) expect([answer.status, await answer.text()]).toEqual([200, ""]);
    }
    expect((await shared.post()).answer.status).toBe(200);
  });

  test("is the server's in log and metrics, without a client IP", async () => {
    const { answer } = await post();
    const line = await shared.proxy.logged(answer.headers.get("x-request-id"));
    expect(line).toMatchObject({ route: "server", client: "", outcome: "accepted" });
    const series = 'culvert_server_envelopes_total{outcome="accepted",reason=""}';
    expect(await shared.proxy.metric(series)).toBeGreaterThan(0);
  });
});

describe("the listener accepts nothing else", () => {
  const others = ["/", "/envelopes/", "/Envelopes", "/envelopes/csp", "/monitoring", "/healthz", "/metrics", "/web"];
  test.each([...others, "/_next/static/x.js", "/.culvert/error.html"])("%s is 404", async (path) => {
    const { answer, received, web } = await post(path);
    expect([answer.status, received, web]).toEqual([404, [], 0]);
  });

  test("and the public port does not serve it: /envelopes is a page of web there", async () => {
    const mark = await shared.proxy.web.count();
    expect((await shared.post({ path: "/envelopes" })).received).toEqual([]);
    expect(await shared.proxy.web.count()).toBe(mark + 1);
  });
});

test("the spool queues what the ingest cannot accept, and web is told; a client is not", async () => {
  await shared.proxy.ingest.answer({ ...ok, instead: "reset" });
  const queued = await post();
  expect([queued.answer.status, queued.answer.headers.get("x-envelope-outcome")]).toEqual([200, "queued"]);
  const { answer: client } = await shared.post();
  expect([client.status, client.headers["x-envelope-outcome"]]).toEqual([200, undefined]);

  const mark = await shared.proxy.ingest.count();
  await shared.proxy.ingest.answer(ok);
  const delivered = await shared.proxy.ingest.waitFor((request) => request, mark);
  expect(Buffer.from(delivered.body, "base64").toString()).toContain('"message":"hello"');
  expect((await post()).answer.headers.get("x-envelope-outcome")).toBeNull();
});
