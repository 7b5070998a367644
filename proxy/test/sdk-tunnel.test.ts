import { getTunnelPath } from "@sentry/core";
import { expect, test } from "vitest";
import { label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { page } from "./use-proxy.ts";
import { useTunnel } from "./use-tunnel.ts";

const shared = useTunnel();

// The DSNs of useTunnel, which number them in this order.
const projects = [
  ["http://key@ingest:9000/prefix/7", "/prefix/api/7/envelope/"],
  ["http://second@o42.ingest.us.sentry.io:9000/43", "/api/43/envelope/"],
  ["http://third:secret@o44.ingest.sentry.io:9000/45", "/api/45/envelope/"],
] as const;

test.each(projects)("the SDK's own path for %s leads to its project", async (dsn, url) => {
  const path = getTunnelPath(dsn) ?? "";
  // The SDK names no project by arguments here; others that stand behind the path change nothing. With `trailingSlash`, a slash ends it.
  for (const address of [path, `${path}?o=1&p=2`, `${path}/`]) {
    const headers = { "content-type": "application/x-sentry-envelope" };
    const { answer, received } = await shared.through({ path: address, headers });
    expect(answer).toMatchObject({ status: 200, body: "" });
    expect(received.map((request) => request.url)).toEqual([url]);
  }
});

test("the path of a DSN that is not served is the app's", async () => {
  await shared.proxy.web.answer(page);
  const { answer, received } = await shared.through({ path: getTunnelPath("https://key@o1.ingest.sentry.io/2") ?? "" });
  expect(answer.body).toBe(page.body);
  expect(received).toEqual([]);
});

test("the paths are those that @sentry/core computes", async () => {
  const hex = (n: number) => Math.imul(n, 2654435761).toString(16).replace("-", "").padStart(32, "a");
  const dsns = [
    "https://key@o1.ingest.sentry.io/2",
    "http://KEY_1@[2001:db8::1]:9000/a/b.c/77",
    ...Array.from({ length: 60 }, (_, n) => `https://${hex(n)}@o${n * 7919}.ingest.us.sentry.io/${n * 104729}`),
  ];
  const loop = '. /culvert/entrypoint.d/sdk-tunnel-path.sh; for dsn; do sdk_tunnel_path "$dsn"; done';
  const options = ["--rm", label, "--network=none", "--entrypoint=sh"];
  const output = await must("run", ...options, await build(), "-c", loop, "sh", ...dsns);
  expect(output.split("\n")).toEqual(dsns.map((dsn) => getTunnelPath(dsn)));
});
