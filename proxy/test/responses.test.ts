import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { page, pageWith, publicFolder, useProxy } from "./use-proxy.ts";
import { sendH2 } from "./wire.ts";

const host = "app.example.com";
const tls = publicFolder();
makePair(join(tls, "own"), [host]);

const shared = useProxy(
  { SERVER_NAME: host, HTTP3: "on", TLS_CERT_FILE: "/tls/own.crt", TLS_KEY_FILE: "/tls/own.key" },
  { mounts: { [tls]: "/tls" } },
);

describe("responses", () => {
  test("do not name the software inside", async () => {
    const internal = { "x-powered-by": "Next.js", "x-middleware-set-cookie": "a=1", server: "node/24" };
    const reserved = { "x-request-id": "web's", "alt-svc": "web's", "x-envelope-outcome": "web's" };
    await shared.proxy.web.answer(pageWith({ ...internal, ...reserved }));
    const { answer } = await shared.through();
    expect(Object.keys(answer.headers).filter((name) => /powered|middleware/.test(name))).toEqual([]);
    expect(answer.headers.server).toBe("nginx");
    expect(JSON.stringify(answer.headers)).not.toContain("web's");
  });
  test("come with their early hints over HTTP/2, without what names the software", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Powered-By: Next.js\r\n\r\n";
    const body = `${hints}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`;
    await shared.proxy.web.answer({ status: 0, headers: {}, body, instead: "raw" });
    const { answer } = await shared.through({}, sendH2);
    expect(answer).toMatchObject({ status: 200, body: "hello" });
    expect(Object.entries(answer.hints ?? {}).join()).toBe(":status,103,link,</a.css>; rel=preload");
    expect((await shared.through()).answer.body).toBe("hello");
  });
  test("can't send the proxy elsewhere", async () => {
    await shared.proxy.web.answer(pageWith({ "x-accel-redirect": "/.culvert/unavailable.html" }));
    expect((await shared.through()).answer.body).toBe(page.body);
  });
  test.each([
    ["another site's request with cookies", { cookie: "a=1", "sec-fetch-site": "cross-site" }, undefined],
    ["another site's request without", { "sec-fetch-site": "cross-site" }, "gzip"],
    ["its own request with cookies", { cookie: "a=1", "sec-fetch-site": "same-origin" }, "gzip"],
  ])("to %s are compressed only where sizes give nothing away", async (_, headers, encoding) => {
    await shared.proxy.web.answer({ ...page, body: page.body.repeat(100) });
    const { answer } = await shared.through({ headers: { ...headers, "accept-encoding": "gzip" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-encoding"]).toBe(encoding);
  });
  test("stream compressed: what is rendered arrives before the rest is", async () => {
    await shared.proxy.web.answer({ ...page, body: "<p>first</p>".repeat(100), rest: "<p>rest</p>" });
    const lines = ["GET / HTTP/1.1", "Host: localhost", "Accept-Encoding: br, gzip", "", ""];
    const { answer } = await shared.write(lines.join("\r\n"), /\r\n\r\n./s);
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\nContent-Encoding: gzip\r\n/s);
    await shared.proxy.web.proceed();
  });
});

const asks = { "x-security-headers": "strict" };
const strict = pageWith(asks);

describe("security headers", () => {
  const always = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "strict-transport-security": "max-age=31536000",
  };
  const ask = (headers: Record<string, string> = { accept: "text/html" }) => shared.through({ host, headers });

  test("that can break a page go with no answer of an app that does not ask", async () => {
    const { answer } = await ask();
    expect(answer.headers).toMatchObject(always);
    const others = /^(content-security-policy|cross-origin|permissions-policy)/;
    expect(Object.keys(answer.headers).filter((name) => others.test(name))).toEqual([]);
  });
  test("are strict where the app asks, with a policy whose nonce web got in its request", async () => {
    await shared.proxy.web.answer(strict);
    const { answer, header } = await ask();
    expect(answer.headers).toMatchObject({
      ...always,
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=()"),
      "content-security-policy": expect.stringMatching(
        /script-src 'nonce-[0-9a-f]{32}' 'strict-dynamic';.*frame-ancestors 'self'.*report-uri \/monitoring\/csp/,
      ),
    });
    expect(answer.headers["x-security-headers"]).toBeUndefined();
    const policy = String(answer.headers["content-security-policy"]);
    expect(header("content-security-policy")).toBe(policy);
    const nonce = policy.match(/nonce-(\w+)/)?.[1];
    expect(nonce).not.toBe(answer.headers["x-request-id"]);
    // A service worker that fetches a page accepts anything.
    const another = String((await ask({ accept: "*/*" })).answer.headers["content-security-policy"]);
    expect(another.replace(/nonce-\w+/g, `nonce-${nonce}`)).toBe(policy);
    expect(another).not.toContain(nonce);
  });
  const postponed = { "x-nextjs-prerender": "1", "x-nextjs-postponed": "1" };
  test.each<[string, Record<string, string>, boolean]>([
    ["strict", { "x-nextjs-prerender": "1" }, false],
    ["strict", { "x-nextjs-cache": "HIT" }, false],
    ["strict", { "cache-control": "s-maxage=60, stale-while-revalidate=31535940" }, false],
    ["strict", postponed, false],
    ["nonce", postponed, true],
    ["nonce", {}, true],
    ["nonce", { ...postponed, "x-nextjs-cache": "HIT" }, false],
    ["nonce", { ...postponed, "cache-control": "s-maxage=60" }, false],
  ])("%s: have a nonce unless the page was built ahead, %j", async (value, headers, hasNonce) => {
    await shared.proxy.web.answer(pageWith({ "x-security-headers": value, ...headers }));
    const { answer } = await ask();
    const policy = answer.headers["content-security-policy"];
    if (hasNonce) expect(policy).toMatch(/'nonce-[0-9a-f]{32}'/);
    else
      expect(policy).toMatch(/^img-src (?!.*(script-src|style-src|default-src|nonce-)).*object-src 'none'.*base-uri/);
    expect(answer.headers["cross-origin-resource-policy"]).toBe("same-origin");
  });
  // A client's separator says nothing of another field.
  test.each<Record<string, string>>([
    { accept: "text/event-stream" },
    { accept: "*/*", rsc: "1" },
    { accept: "*/*|" },
    { accept: "*/*", "next-action": "|" },
  ])("have no nonce for what is no document: %j", async (headers) => {
    await shared.proxy.web.answer(strict);
    const { answer, header } = await ask(headers);
    expect(header("content-security-policy")).toBeUndefined();
    expect(answer.headers["content-security-policy"]).toMatch(/^img-src /);
  });
});

const html = { accept: "text/html,*/*" };
const preload = { "strict-transport-security": "max-age=63072000; includeSubDomains; preload" };
const report = useProxy({ CONTENT_SECURITY_POLICY: "report", SERVER_NAME: host });

describe("of the headers that the proxy adds", () => {
  /** What an app sends itself, in place of each, and what the browser gets, if that is not the app's own. */
  const appHeaders: Record<string, [value: string, instead?: RegExp]> = {
    "content-security-policy": ["default-src *"],
    "content-security-policy-report-only": ["default-src 'self'"],
    "cross-origin-opener-policy": ["unsafe-none"],
    "cross-origin-resource-policy": ["cross-origin"],
    "permissions-policy": ["camera=*"],
    "referrer-policy": ["no-referrer"],
    "strict-transport-security": [preload["strict-transport-security"]],
    "x-robots-tag": ["all", /^all, noindex$/],
    "alt-svc": ['h3=":3000"', /8443/],
    vary: ["Cookie", /^(?=.*Cookie)(?=.*Accept-Encoding)/],
    "x-accel-buffering": ["yes", /^no$/],
    "x-content-type-options": ["sniff", /^nosniff$/],
    "x-request-id": ["own", /^\w{32}$/],
  };
  const others = ["connection", "content-type", "date", "server", "transfer-encoding"];
  const headersOf = async (headers: Record<string, string>, by = shared) => {
    await by.proxy.web.answer({ ...pageWith(headers), status: 404 });
    return (await by.through({ host, headers: html })).answer.headers;
  };

  test("an app's own win, but for those that the table in docs/your-app.md names", async () => {
    const added = [...Object.keys(await headersOf(asks)), ...Object.keys(await headersOf(asks, report))];
    expect([...new Set(added)].filter((name) => !others.includes(name)).sort()).toEqual(Object.keys(appHeaders).sort());
    const sent = Object.fromEntries(Object.entries(appHeaders).map(([name, [value]]) => [name, value]));
    const answers = [await headersOf(sent), await headersOf({ ...sent, ...asks })];
    const table = readFileSync(new URL("../../docs/your-app.md", import.meta.url), "utf8").toLowerCase();
    for (const [name, [value, instead]] of Object.entries(appHeaders)) {
      const expected = instead ? expect.stringMatching(instead) : value;
      expect(answers.map((answer) => [name, answer[name]])).toEqual(answers.map(() => [name, expected]));
      expect(table).toMatch(new RegExp(`^\\|.*\`${name}\`.*(${instead ? "replaced|beside" : "wins"})`, "m"));
    }
  });
  test("HSTS goes nowhere where it would lock users out, not even the app's own", async () => {
    for (const [by, name] of [[shared, "localhost"] as const, [report, host] as const]) {
      await by.proxy.web.answer(pageWith(preload));
      expect((await by.through({ host: name })).answer.headers).not.toHaveProperty("strict-transport-security");
    }
  });
  test("HSTS of the proxy takes no page's includeSubDomains back: a file and an error page have none", async () => {
    const hsts = async (mode: string) =>
      (await shared.through({ host, headers: { "sec-fetch-mode": mode } })).answer.headers["strict-transport-security"];
    expect([await hsts("no-cors"), await hsts("navigate")]).toEqual([undefined, "max-age=31536000"]);
    await shared.proxy.web.answer({ ...page, instead: "reset" });
    expect(await hsts("navigate")).toBeUndefined();
  });
});

describe("CONTENT_SECURITY_POLICY=report", () => {
  test("tells of every page what the strict policy would do to it, and stops nothing", async () => {
    const { answer, header } = await report.through({ headers: html });
    const policy = answer.headers["content-security-policy-report-only"];
    expect(policy).toMatch(/'strict-dynamic'.*report-uri \/monitoring\/csp$/);
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(header("content-security-policy")).toContain("nonce-");
  });
  test("leaves an app its own policy to try, and its own endpoints", async () => {
    const headers = {
      "content-security-policy-report-only": "default-src 'self'; report-to own",
      "reporting-endpoints": 'own="/reports"',
    };
    await report.proxy.web.answer(pageWith(headers));
    expect((await report.through({ headers: html })).answer.headers).toMatchObject(headers);
  });
});

const off = useProxy({ CONTENT_SECURITY_POLICY: "off" });
test("CONTENT_SECURITY_POLICY=off sends no policy to browsers but an app's own, and no nonce to web", async () => {
  await off.proxy.web.answer(strict);
  const { answer, header } = await off.through({ headers: html });
  expect(answer.headers["content-security-policy"]).toBeUndefined();
  expect(answer.headers["permissions-policy"]).toContain("camera=()");
  expect(header("content-security-policy")).toBeUndefined();
  const policy = { "content-security-policy": "default-src *" };
  await off.proxy.web.answer(pageWith({ ...asks, ...policy }));
  expect((await off.through({ headers: html })).answer.headers).toMatchObject(policy);
});

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("snippets/compressed-types.conf has what Next's own compression compresses, by mime-db", () => {
  const bundle = read("web/node_modules/next/dist/compiled/compression/index.js");
  const [, json = ""] = /JSON\.parse\('(\{"application\/1d-.*?\})'\)/.exec(bundle) ?? [];
  const known: Record<string, { compressible?: boolean; extensions?: string[] }> = JSON.parse(json);
  const isCompressible = (type: string) => known[type]?.compressible ?? /^text\/|\+(json|text|xml)$/.test(type);
  // Without most vendors' types and long names: see the snippet.
  const isUsual = (type: string) =>
    (known[type]?.extensions || type.endsWith("+json")) && !/\/(vnd|prs)\./.test(type) && type.length <= 26;
  const ofApis = ["vnd.api", "graphql-response", "hal"];
  const more = ["text/javascript", ...ofApis.map((name) => `application/${name}+json`)];
  const usual = Object.keys(known).filter(isUsual);
  const types = [...new Set([...usual, ...more])].filter(isCompressible);
  const [, listed = ""] = /^gzip_types ([^;]*);/m.exec(read("proxy/snippets/compressed-types.conf")) ?? [];
  // Nginx always compresses it.
  expect([...listed.split(/\s+/), "text/html"].sort()).toEqual(types.sort());
});
