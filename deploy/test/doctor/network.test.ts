import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { certificate } from "../../doctor/checks/certificate.ts";
import { ingest } from "../../doctor/checks/ingest.ts";
import { hiddenPage, page } from "../../doctor/checks/page.ts";
import { http2, publicAddress, redirect } from "../../doctor/checks/public.ts";
import { envelope, foreignProject, serverTunnel } from "../../doctor/checks/tunnel.ts";
import { checkOutside } from "../../doctor/doctor.ts";
import type { Result } from "../../doctor/result.ts";
import { pair, serve, serveTls, site } from "./far-end.ts";

const states = (results: Result[]) => results.map(({ check, state }) => `${check} ${state}`);
const words = (results: Result[]) => results.map(({ found, fix = "" }) => `${found}: ${fix}`).join("\n");
const answer =
  (status: number, headers: Record<string, string> = {}, body = ""): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  };

describe("ingest", () => {
  const dsn = (port: number, scheme = "http", host = "localhost") => `${scheme}://0123456789abcdef@${host}:${port}/1`;

  test("accepts a probe envelope that carries no event and names its sender", async () => {
    let sent = "";
    const port = await serve((request, response) => {
      request.setEncoding("utf8").on("data", (chunk) => {
        sent += `${request.url} ${chunk}`;
      });
      request.on("end", () => response.end());
    });
    expect(states(await ingest(dsn(port)))).toEqual(["ingest ok", "clock ok"]);
    const [head = "{}", item = "{}"] = sent.replace("/api/1/envelope/ ", "").split("\n");
    expect(JSON.parse(head)).toMatchObject({ sdk: { name: "culvert.doctor" } });
    expect(JSON.parse(item)).toEqual({ type: "client_report" });
  });

  test.each([
    [403, "ingest failed", /check that the key is active/],
    [500, "ingest failed", /the spool queues envelopes/],
    [429, "ingest unknown", /rate limit/],
  ])("that answers %s", async (status, state, fix) => {
    const results = await ingest(dsn(await serve(answer(status))));
    expect(states(results)).toContain(state);
    expect(words(results)).toMatch(fix);
  });

  test("whose name does not resolve", async () => {
    expect(words(await ingest(dsn(80, "http", "no-such-host.invalid")))).toMatch(
      /no-such-host\.invalid does not resolve/,
    );
  });

  test("that does not listen", async () => {
    const results = await ingest(dsn(1));
    expect(states(results)).toEqual(["ingest failed"]);
    expect(words(results)).toMatch(/does not answer an envelope \(ECONNREFUSED\)/);
  });

  test("with a private certificate: refused without its CA, fine with it", async () => {
    const port = await serveTls(answer(200));
    expect(words(await ingest(dsn(port, "https")))).toMatch(/self-signed .*INGEST_CA_FILE/);
    expect(states(await ingest(dsn(port, "https"), `${pair()}.crt`))).toEqual(["ingest ok", "clock ok"]);
  });
});

describe("tunnel", () => {
  const dsn = "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2";

  test.each([
    [answer(200), "tunnel ok", /accepted/],
    [answer(503), "tunnel failed", /neither ingest nor spool/],
    [answer(403), "tunnel failed", /key is active/],
  ])("probe envelope %#", async (listener, state, text) => {
    const results = await envelope(await site(listener), dsn);
    expect(states(results)).toEqual([state]);
    expect(words(results)).toMatch(text);
  });

  test.each([
    [answer(200), "server tunnel ok", /reached the ingest/],
    [answer(200, { "X-Envelope-Outcome": "queued" }), "server tunnel failed", /queued in the spool/],
    [answer(503), "server tunnel failed", /neither ingest nor spool/],
  ])("probe envelope of the server %#", async (listener, state, text) => {
    const results = await serverTunnel(`http://127.0.0.1:${await serve(listener)}/envelopes`, dsn);
    expect(states(results)).toEqual([state]);
    expect(words(results)).toMatch(text);
  });

  test.each([
    [405, "tunnel ok"],
    [404, "tunnel failed"],
  ])("without a DSN a GET answers %s", async (status, state) => {
    expect(states(await envelope(await site(answer(status)), undefined))).toEqual([state]);
  });

  test.each([
    [403, "foreign project ok"],
    [200, "foreign project failed"],
  ])("a foreign project gets %s", async (status, state) => {
    expect(states(await foreignProject(await site(answer(status))))).toEqual([state]);
  });
});

test("a certificate as it is served: self-signed", async () => {
  const results = await certificate(await site(answer(200)), { names: ["localhost"] });
  expect(words(results)).toMatch(/self-signed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
});

describe("address", () => {
  test.each<[string, RequestListener, string]>([
    ["redirects", answer(308, { Location: "https://localhost/" }), "redirect ok"],
    ["answers in plain text", answer(200), "redirect failed"],
  ])("plain HTTP %s", async (_, listener, state) => {
    const target = await site(answer(200));
    expect(states(await redirect(target, "127.0.0.1", await serve(listener)))).toEqual([state]);
    expect(states(await redirect(target, "127.0.0.1", 1))).toEqual(["redirect failed"]);
  });

  test("HTTP/2 is negotiated, or not", async () => {
    expect(states(await http2(await site(answer(200), true)))).toEqual(["http/2 ok"]);
    expect(states(await http2(await site(answer(200))))).toEqual(["http/2 failed"]);
  });

  test.each([
    [404, { "X-Robots-Tag": "noindex", "Alt-Svc": 'h3=":443"' }, ["public address ok"]],
    [404, { "Alt-Svc": 'h3=":443"' }, ["public address ok", "unknown page failed"]],
    [302, {}, ["public address ok", "unknown page unknown", "http/3 unknown"]],
    [421, {}, ["public address failed"]],
  ])("a page that no app has answers %s %o", async (status, headers, expected) => {
    const target = await site(answer(status, { "X-Request-Id": "1", ...headers }));
    expect(states(await publicAddress(target, false, true))).toEqual(expected);
  });

  test("a public name that does not resolve, and one that leads to this machine alone", async () => {
    const target = await site(answer(200));
    expect(states(await publicAddress({ ...target, name: "no-such-host.invalid" }))).toEqual(["public address failed"]);
    expect(states(await publicAddress(target))).toEqual(["public address unknown"]);
  });

  test("one where nothing listens is one line", async () => {
    const results = await checkOutside({ ...(await site(answer(200))), port: 1 }, undefined, "");
    expect(states(results)).toEqual(["public address failed"]);
  });
});

describe("page", () => {
  const rendered =
    (content: (trace: string) => string): RequestListener =>
    (request, response) => {
      const trace = String(request.headers["sentry-trace"]).slice(0, 32);
      response.end(`<meta name="sentry-trace" content="${content(trace)}-0123456789abcdef-0"/>`);
    };

  test.each<[string, RequestListener, string[]]>([
    ["continues the trace", rendered((trace) => trace), ["page ok", "trace ok"]],
    ["is part of another", rendered(() => "0".repeat(32)), ["page ok", "trace failed"]],
    ["does not say", answer(200, {}, "<html>"), ["page ok", "trace unknown"]],
    ["is an error", answer(500), ["page failed"]],
    [
      "forbids the tunnel by its policy",
      answer(200, { "Content-Security-Policy": "default-src 'self'; connect-src https://api.example.com" }),
      ["page ok", "csp failed", "trace unknown"],
    ],
    [
      "allows it",
      answer(200, { "Content-Security-Policy": "default-src 'none'; connect-src 'self'" }),
      ["page ok", "trace unknown"],
    ],
  ])("that %s", async (_, listener, expected) => {
    expect(states(await page(await site(listener), "/", ["localhost"]))).toEqual(expected);
  });

  test("that does not answer", async () => {
    expect(states(await page({ ...(await site(answer(200))), port: 1 }, "/", ["localhost"]))).toEqual(["page failed"]);
  });

  test.each<[string, RequestListener, string[]]>([
    ["a page", answer(200, { "Content-Type": "text/html" }), ["tunnel path failed"]],
    ["no page", answer(404, { "Content-Type": "text/html" }), []],
  ])("the app has %s at the tunnel's path", async (_, listener, expected) => {
    const web = { host: "127.0.0.1", port: await serve(listener) };
    expect(states(await hiddenPage(await site(answer(200)), web))).toEqual(expected);
  });
});
