import { getTunnelPath } from "@sentry/core";
import { expect, test } from "vitest";
import { label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";

test("the SDK's own paths are those that @sentry/core computes", async () => {
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
