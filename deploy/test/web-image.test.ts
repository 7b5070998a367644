import { describe, expect, test } from "vitest";
import { lastLine } from "./run.ts";
import { docker, label, restricted } from "./support/docker.ts";

// Built by compose for the stack that these tests run beside.
const image = `${process.env.COMPOSE_PROJECT_NAME}-web`;
const hardened = [...restricted, "--tmpfs=/tmp:uid=1000"];

describe("an invalid setting stops web with a one-line error, its last line", () => {
  test.each([
    ["SENTRY_DSN", "sentry.io/2", /^culvert: SENTRY_DSN .*: copy it/],
    ["SENTRY_TRACES_SAMPLE_RATE", "2", /^culvert: SENTRY_TRACES_SAMPLE_RATE '2' .*from 0 to 1/],
    ["SENTRY_TRACES_SAMPLE_RATE", "-0.1", /^culvert: SENTRY_TRACES_SAMPLE_RATE '-0.1' /],
    ["SENTRY_TRACES_SAMPLE_RATE", "often", /^culvert: SENTRY_TRACES_SAMPLE_RATE 'often' /],
    ["TUNNEL_PATH", "monitoring", /^culvert: TUNNEL_PATH 'monitoring' does not start with a slash: /],
    ["TUNNEL_PATH", "/", /^culvert: TUNNEL_PATH '\/' /],
    ["CACHE_URL", "cache:6379", /^culvert: CACHE_URL is not the address of a cache: use /],
    ["UPSTREAM_URL", "api.example", /^culvert: UPSTREAM_URL is not an http\(s\) address .*: use an address such as /],
  ])("%s=%s", async (name, value, line) => {
    const { code, output } = await docker(
      "run",
      "--rm",
      label,
      "--network=none",
      ...hardened,
      `--env=${name}=${value}`,
      image,
    );
    expect(lastLine(output), output).toMatch(line);
    expect(code).toBe(1);
  });
});
