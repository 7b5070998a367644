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
const http = useProxy({ ...others, TUNNEL_ALLOWED_DSNS: `${TUNNEL_ALLOWED_DSNS} ${selfHosted} http://k@sentry.io/9` });
const https = useProxy(
  { ...threeProjects("https", 9443), INGEST_CA_FILE: "/ca" },
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
    // Other spellings.
    ...["/%6donitoring", "//monitoring", "/x/../monitoring"].map((path) => [path, first] as const),
    [sdkPath("http://key@ingest:9000/prefix/7"), first],
    [sdkPath("http://third:secret@o44.ingest.sentry.io:9000/45"), third],
    [sdkPath(selfHosted), ["ingest", "/api/8/envelope/"]],
    // Arguments change nothing. With `trailingSlash`, a slash ends it.
    [`${sdkPath("http://second@o42.ingest.us.sentry.io:9000/43")}/?o=1&p=2`, second],
  ] as const)("an envelope at %s reaches the project of its DSN and no other", (path, [host, url]) =>
    expectArrival(http, by, path, `${host}:9000`, url),
  );
  test.each(byArguments)("an envelope at %s reaches an https ingest", (path, [host, url]) =>
    expectArrival(https, by, path, `${host}:9443`, url),
  );

  describe("what is rejected reaches neither ingest nor web", () => {
    const args = [
      "o=42&p=44&r=us",
      "o=42&p=43",
      "o=42&p=43&r=de",
      "o=43&p=43&r=us",
      "o=42",
      "p=43",
      "o=&p=",
      "p=43&o=42&r=us",
      "o=42&p=43&r=us&r=us",
      "o=42&o=42&p=43&r=us",
      "o=%34%32&p=43&r=us",
      "o=42&p=43&r=us&x=1",
      "O=42&P=43&R=us",
      "o=42&p=43&r=us.evil.example",
      "o=42%26p=43",
      `o=${"4".repeat(4000)}&p=43`,
    ];
    const methods = ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"];
    const types = ["application/json", "multipart/form-data; boundary=x", "text/html", "text/plainly"];
    const paths = ["/monitoring/", "/Monitoring", "/MONITORING/csp", "/monitoring/envelope", "/monitoring/csp/"];
    test("413: more than 20 MB", () => expectRejection(by, 413, { body: Buffer.alloc((20 << 20) + 1) }));
    test.each<[number, Partial<Request>]>([
      ...args.map((query): [number, Partial<Request>] => [403, { path: `/monitoring?${query}` }]),
      ...methods.map((method): [number, Partial<Request>] => [405, { method, body: undefined }]),
      ...types.map((type): [number, Partial<Request>] => [415, { headers: { "content-type": type } }]),
      ...paths.map((path): [number, Partial<Request>] => [404, { path }]),
    ])("%i: %j", (status, request) => expectRejection(by, status, request));
  });
});

describe("two projects in one app: the SDK's multiplexed transport posts to one address, and an event of", () => {
  /** The paths at which the ingest received an event of this DSN that the SDK posted to this path. */
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
  test("the only project is not looked for", async () => {
    const config = await must("run", "--rm", label, `--env=SENTRY_DSN=${selfHosted}`, await build(), "render");
    expect(config).toMatch(/mirror off;.*proxy_pass \$ingest_scheme:\/\/ingest_\$ingest\$/s);
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
