import { describe, expect, test } from "vitest";
import { envelope, ok, threeProjects, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const shared = useProxy({ ...threeProjects(), TUNNEL_RATE_PER_CLIENT: "1" }, { spool: true });

/** Posts an envelope as web does (Node's SDK names no type), or what `request` says. */
const post = (request: Partial<Request> = {}) =>
  shared.post({ path: "/envelopes", headers: {}, ...request }, (_, sent) => send(shared.proxy.at(8083), sent));

describe("an envelope of web itself", () => {
  test("reaches the ingest byte for byte, with allowed headers only", async () => {
    const headers = {
      "user-agent": "sentry.javascript.nextjs/10",
      cookie: "session=1",
      authorization: "Bearer 1",
      "x-sentry-auth": "Sentry sentry_key=1",
      "x-forwarded-for": "6.6.6.6",
      "x-spool-destination": "http://evil.example/",
    };
    const { answer, received, header } = await post({ headers });
    expect(answer).toMatchObject({ status: 200, body: "", headers: { "cache-control": "no-cache" } });
    const body = Buffer.from(envelope).toString("base64");
    expect(received).toMatchObject([{ method: "POST", url: "/prefix/api/7/envelope/", body }]);
    const names = received[0]?.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    // No client IP: that of a container says nothing.
    expect(names?.sort()).toEqual(["content-length", "host", "user-agent"]);
    expect(header("user-agent")).toBe("sentry.javascript.nextjs/10");
  });

  test("of another project reaches that one", async () => {
    for (const length of [0, 100_000]) {
      const body = `{"dsn": "http://k@o42.ingest.us.sentry.io:9000/43"}\n${envelope}${" ".repeat(length)}`;
      expect((await post({ body })).received).toMatchObject([{ url: "/api/43/envelope/" }]);
    }
  });

  test("is not limited as clients are, and does not use up their limits", async () => {
    for (let n = 0; n < 24; n++) {
      const request = { method: "POST", path: "/envelopes", body: envelope };
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(shared.proxy.at(8083), request)));
      for (const { status, body } of answers) expect([status, body]).toEqual([200, ""]);
    }
    expect((await shared.post()).answer.status).toBe(200);
  });

  test("is the server's in log and metrics, without a client IP", async () => {
    const { answer } = await post();
    const line = await shared.proxy.logged(answer.headers["x-request-id"]);
    expect(line).toMatchObject({ route: "server", client: "", outcome: "accepted" });
    const series = 'culvert_server_envelopes_total{outcome="accepted",reason=""}';
    expect(await shared.proxy.metric(series)).toBeGreaterThan(0);
  });
});

describe("the listener accepts nothing else", () => {
  const others = ["/envelopes/", "/Envelopes", "/envelopes/csp", "/monitoring", "/metrics", "/_next/static/x.js"];
  test.each(["/", ...others, "/.culvert/error.html"])("%s is 404", async (path) => {
    const mark = await shared.proxy.web.count();
    const { answer, received } = await post({ path });
    expect([answer.status, received, await shared.proxy.web.count()]).toEqual([404, [], mark]);
  });

  test("and the public port does not serve it: /envelopes is a page of web there", async () => {
    const { received } = await shared.through({ method: "POST", path: "/envelopes", body: envelope });
    expect(received).toHaveLength(1);
  });
});

test("the spool queues what the ingest cannot accept, and web is told; a client is not", async () => {
  await shared.proxy.ingest.answer({ ...ok, instead: "reset" });
  const queued = await post();
  expect([queued.answer.status, queued.answer.headers["x-envelope-outcome"]]).toEqual([200, "queued"]);
  const { answer: client } = await shared.post();
  expect([client.status, client.headers["x-envelope-outcome"]]).toEqual([200, undefined]);

  const mark = await shared.proxy.ingest.count();
  await shared.proxy.ingest.answer(ok);
  const delivered = await shared.proxy.ingest.waitFor((request) => request, mark);
  expect(Buffer.from(delivered.body, "base64").toString()).toContain('"message":"hello"');
  expect((await post()).answer.headers["x-envelope-outcome"]).toBeUndefined();
});
