import { withSentryConfig } from "@sentry/nextjs/config";
import type { NextConfig } from "next";
import { afterEach, expect, test, vi } from "vitest";
import { withCulvert } from "./config.js";
import { PART_VARIABLES } from "./parts.js";

vi.mock("@sentry/nextjs/config", () => ({ withSentryConfig: vi.fn((config: object) => config) }));
afterEach(() => vi.unstubAllEnvs());

const sentry = () => vi.mocked(withSentryConfig).mock.lastCall?.[1];

test("the app's own values win, and a function stays a function", async () => {
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "release-1");
  const config = { output: "export", deploymentId: "own", transpilePackages: ["ui"], env: { A: "1" } } as const;
  expect(withCulvert(config)).toMatchObject({ ...config, transpilePackages: ["ui", "@culvert/nextjs"] });
  const made = withCulvert(async (phase: string) => ({ env: { phase } }));
  expect(await made("build")).toMatchObject({ output: "standalone", env: { phase: "build" } });
});

test("each part that is switched off is so in the build's variables", () => {
  const on = Object.fromEntries(Object.values(PART_VARIABLES).map((name) => [name, "on"]));
  expect(withCulvert<NextConfig>().env).toMatchObject({ ...on, CULVERT_SEND_OUTCOMES: "off" });
  const { env } = withCulvert<NextConfig>({ basePath: "/shop" }, { offlineQueue: false, sendOutcomes: true });
  expect(env).toEqual({ ...on, CULVERT_OFFLINE_QUEUE: "off", CULVERT_BASE_PATH: "/shop" });
});

test("standalone, deploymentId, strictHeaders and sentry each switch their part of the build", async () => {
  vi.stubEnv("NEXT_DEPLOYMENT_ID", "release-1");
  const headers = async () => [{ source: "/own", headers: [] }];
  const on = withCulvert<NextConfig>({ headers }, { strictHeaders: true });
  expect(on).toMatchObject({ output: "standalone", deploymentId: "release-1" });
  expect(await on.generateBuildId?.()).toBe("release-1");
  const strict = { source: "/:path*", headers: [{ key: "X-Security-Headers", value: "strict" }] };
  // Of two with one name, Next sends the last.
  expect(await on.headers?.()).toEqual([strict, ...(await headers())]);
  vi.mocked(withSentryConfig).mockClear();
  const off = withCulvert<NextConfig>({ headers }, { standalone: false, deploymentId: false, sentry: false });
  for (const name of ["output", "deploymentId", "generateBuildId"]) expect(off).not.toHaveProperty(name);
  expect(off.headers).toBe(headers);
  expect(withSentryConfig).not.toHaveBeenCalled();
});

test("source maps are made only to be uploaded, and a failed upload fails the build", () => {
  withCulvert({});
  expect(sentry()).toMatchObject({ sourcemaps: { disable: true }, telemetry: false, release: { create: false } });
  vi.stubEnv("SENTRY_AUTH_TOKEN", "token");
  withCulvert({}, { sentry: { org: "example" } });
  expect(sentry()).toMatchObject({ sourcemaps: { deleteSourcemapsAfterUpload: true }, org: "example" });
  expect(() => sentry()?.errorHandler?.(new Error("invalid token"))).toThrow("invalid token");
});

test("a key for server actions that is not 32 bytes is one line", () => {
  vi.stubEnv("NEXT_SERVER_ACTIONS_ENCRYPTION_KEY", "c2hvcnQ=");
  expect(() => withCulvert({})).toThrow(/^NEXT_SERVER_ACTIONS_ENCRYPTION_KEY does not hold 32 bytes in base64: .+$/);
});
