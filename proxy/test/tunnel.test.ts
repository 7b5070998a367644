import { join } from "node:path";
import { createTransport, type EventEnvelope, getTunnelPath, makeMultiplexedTransport } from "@sentry/core";
import { describe, expect, inject, test } from "vitest";
import { label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { envelope, page, type SharedProxy, threeProjects, useProxy } from "./use-proxy.ts";
import { type Client, type Request, send, sendH2 } from "./wire.ts";

const versions = { "HTTP/1.1": send, "HTTP/2": sendH2 };
/** No arguments select it: neither its host nor the old one of Sentry's own has the organization's number. */
const selfHosted = "http://fourth@ingest:9000/8";
const { TUNNEL_ALLOWED_DSNS, ...others } = threeProjects();
const http = useProxy({
  ...others,
  TUNNEL_ALLOWED_DSNS: `${TUNNEL_ALLOWED_DSNS} ${selfHosted} http://k@sentry.io/9`,
  TUNNEL_RATE_PER_CLIENT: "1",
});
const misnamed = "https://key@other:9443/7";
const ofHttps = threeProjects("https", 9443);
const https = useProxy(
  { ...ofHttps, TUNNEL_ALLOWED_DSNS: `${ofHttps.TUNNEL_ALLOWED_DSNS} ${misnamed}`, INGEST_CA_FILE: "/ca" },
  { mounts: { [join(inject("folder"), "server.crt")]: "/ca" } },
);

const [first, second, third] = [
  ["ingest", "/prefix/api/7/envelope/"],
  ["o42.ingest.us.sentry.io", "/api/43/envelope/"],
  ["o44.ingest.sentry.io", "/api/45/envelope/"],
] as const;
const byArguments: [string, readonly [host: string, url: string]][] = [
  ["/monitoring", first],
  ["/monitoring?o=42&p=43&r=us", second],
  ["/monitoring?o=44&p=45", third],
];
/** The path of the SDK's own for a project; the secret is no part of it. */
const sdkPath = (dsn: string) => getTunnelPath(dsn) ?? "";

async function expectArrival(shared: SharedProxy, by: Client, path: string, host: string, url: string) {
  const { answer, received, header } = await shared.post({ path }, by);
  const headers = { "content-length": "0", "cache-control": "no-cache" };
  expect(answer).toMatchObject({ status: 200, body: "", headers });
  expect(received).toMatchObject([{ method: "POST", url, body: Buffer.from(envelope).toString("base64") }]);
  expect(header("host")).toBe(host);
}

async function expectRejection(by: Client, status: number, request: Partial<Request>) {
  const mark = await http.proxy.web.count();
  const { answer, received } = await http.post(request, by);
  expect(answer).toMatchObject({ status, headers: { "cache-control": "no-cache" } });
  expect(answer.headers.allow).toBe(status === 405 ? "POST" : undefined);
  expect(answer.headers["x-robots-tag"]).toBe(status === 404 ? "noindex" : undefined);
  if (status === 403) expect(JSON.parse(answer.body).reason).toBe("these arguments select no configured project");
  expect([received, await http.proxy.web.count()]).toEqual([[], mark]);
}

describe.each(Object.entries(versions))("over %s", (_, by) => {
  test.each([
    ...byArguments,
    ...["/%6donitoring", "/x/../monitoring"].map((path) => [path, first] as const),
    [sdkPath("http://key@ingest:9000/prefix/7"), first],
    [sdkPath(selfHosted), ["ingest", "/api/8/envelope/"]],
    // Arguments change nothing. With `trailingSlash`, a slash ends it.
    [`${sdkPath("http://second@o42.ingest.us.sentry.io:9000/43")}/?o=1&p=2`, second],
  ] as const)("an envelope at %s reaches the project of its DSN and no other", (path, [host, url]) =>
    expectArrival(http, by, path, `${host}:9000`, url),
  );

  describe("what is rejected reaches neither ingest nor web", () => {
    const args = [
      "o=42&p=44&r=us",
      "o=42&p=43",
      "p=43&o=42&r=us",
      "o=%34%32&p=43&r=us",
      "o=42&p=43&r=us&x=1",
      "O=42&P=43&R=us",
      "o=42&p=43&r=us.evil.example",
      `o=${"4".repeat(4000)}&p=43`,
    ];
    const methods = ["GET", "OPTIONS", "HEAD"];
    const types = ["application/json", "text/plainly"];
    const paths = ["/monitoring/", "/MONITORING/csp", "/monitoring/envelope"];
    test("413: more than 20 MB", () => expectRejection(by, 413, { body: Buffer.alloc((20 << 20) + 1) }));
    test.each<[number, Partial<Request>]>([
      ...args.map((query): [number, Partial<Request>] => [403, { path: `/monitoring?${query}` }]),
      ...methods.map((method): [number, Partial<Request>] => [405, { method, body: undefined }]),
      ...types.map((type): [number, Partial<Request>] => [415, { headers: { "content-type": type } }]),
      ...paths.map((path): [number, Partial<Request>] => [404, { path }]),
    ])("%i: %j", (status, request) => expectRejection(by, status, request));
  });
});

test.each(byArguments)("an envelope at %s reaches an https ingest", (path, [host, url]) =>
  expectArrival(https, send, path, `${host}:9443`, url),
);
test("an https ingest with another name's certificate gets nothing", async () => {
  const { answer, received } = await https.post({ path: sdkPath(misnamed) });
  expect([answer.status, received]).toEqual([503, []]);
});

describe("two projects in one app: the SDK's multiplexed transport posts to one address, and an event of", () => {
  async function arrived(dsn: string, path = "/monitoring", by: Client = send, message = "hello") {
    const urls: string[] = [];
    const post = async ({ body }: { body: string | Uint8Array }) => {
      const { answer, received } = await http.post({ path, body: Buffer.from(body) }, by);
      urls.push(...received.map(({ url }) => url));
      return { statusCode: answer.status };
    };
    const multiplexed = makeMultiplexedTransport(
      (options) => createTransport(options, post),
      () => [dsn],
    );
    const header = { event_id: "1", sent_at: "", dsn: "http://key@ingest:9000/prefix/7" };
    // No DSN but the header's counts.
    const items = [[{ type: "event" }, { message, dsn: selfHosted }]];
    await multiplexed({ url: path, tunnel: path, recordDroppedEvent() {} }).send([header, items] as EventEnvelope);
    return urls;
  }
  test.each([
    ["http://second@o42.ingest.us.sentry.io:9000/43", second[1]],
    ["http://rotated:s@o44.ingest.sentry.io:9000/45", third[1]],
    [selfHosted, "/api/8/envelope/"],
    // Not configured: Relay rejects it.
    ["http://second@o42.ingest.us.sentry.io:9000/44", first[1]],
    ["http://fourth@ingest:9001/8", first[1]],
    ["http://second@o42xingest.us.sentry.io:9000/43", first[1]],
  ])("%s reaches %s", async (dsn, url) => {
    expect(await arrived(dsn)).toEqual([url]);
    expect(await arrived(dsn, "/monitoring", sendH2)).toEqual([url]);
    // It waits in a file.
    expect(await arrived(dsn, "/monitoring", send, "x".repeat(100_000))).toEqual([url]);
  });
  test("one project does so whatever the address, which is checked all the same", async () => {
    for (const path of ["/monitoring?o=42&p=43&r=us", sdkPath("http://key@ingest:9000/prefix/7")])
      expect(await arrived(selfHosted, path)).toEqual(["/api/8/envelope/"]);
    expect(await arrived(selfHosted, "/monitoring?o=1&p=2")).toEqual([]);
  });
});

test("the SDK's path for a DSN that is not served is the app's", async () => {
  const { answer, received } = await http.post({ path: sdkPath("https://key@o1.ingest.sentry.io/2") });
  expect([answer.body, received]).toEqual([page.body, []]);
});

test("the SDK's own paths are those that @sentry/core computes", async () => {
  const dsns = [
    "http://KEY_1@[2001:db8::1]:9000/a/b.c/77",
    ...Array.from({ length: 60 }, (_, n) => `https://key${n}@o${n * 7919}.ingest.us.sentry.io/${n * 104729}`),
  ];
  const loop = '. /culvert/entrypoint.d/sdk-tunnel-path.sh; for dsn; do sdk_tunnel_path "$dsn"; done';
  const options = ["--rm", label, "--network=none", "--entrypoint=sh"];
  const output = await must("run", ...options, await build(), "-c", loop, "sh", ...dsns);
  expect(output.split("\n")).toEqual(dsns.map(sdkPath));
});

/** Posts an envelope as web does (Node's SDK names no type), or what `request` says. */
const post = (request: Partial<Request> = {}) =>
  http.post({ path: "/envelopes", headers: {}, ...request }, http.inside);

describe("an envelope of web itself", () => {
  test("reaches the ingest byte for byte, without a client IP: that of a container says nothing", async () => {
    const { answer, received, header } = await post({
      headers: { "user-agent": "node", "x-forwarded-for": "6.6.6.6" },
    });
    expect(answer).toMatchObject({ status: 200, body: "", headers: { "cache-control": "no-cache" } });
    const body = Buffer.from(envelope).toString("base64");
    expect(received).toMatchObject([{ method: "POST", url: "/prefix/api/7/envelope/", body }]);
    const names = ["user-agent", "x-forwarded-for", "x-sentry-forwarded-for"];
    expect(names.map(header)).toEqual(["node", undefined, undefined]);
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
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(http.proxy.at(8083), request)));
      for (const { status, body } of answers) expect([status, body]).toEqual([200, ""]);
    }
    expect((await http.post()).answer.status).toBe(200);
  });

  test("is the server's in log and metrics, without a client IP", async () => {
    const { answer } = await post();
    const line = await http.proxy.logged(answer.headers["x-request-id"]);
    expect(line).toMatchObject({ route: "server", client: "", outcome: "accepted" });
    const series = 'culvert_server_envelopes_total{outcome="accepted",reason=""}';
    expect(await http.proxy.metric(series)).toBeGreaterThan(0);
  });
});

describe("the listener accepts nothing else", () => {
  test.each(["/", "/envelopes/", "/monitoring", "/.culvert/error.html"])("%s is 404", async (path) => {
    const mark = await http.proxy.web.count();
    const { answer, received } = await post({ path });
    expect([answer.status, received, await http.proxy.web.count()]).toEqual([404, [], mark]);
  });

  test("and the public port does not serve it: /envelopes is a page of web there", async () => {
    const { received } = await http.through({ method: "POST", path: "/envelopes", body: envelope });
    expect(received).toHaveLength(1);
  });
});
