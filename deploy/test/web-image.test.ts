import { expect, test } from "vitest";
import { lastLine } from "./run.ts";
import { docker, label, restricted } from "./support/docker.ts";

test("an invalid setting stops web with a one-line error, its last line", async () => {
  // Built by compose for the stack that these tests run beside. Other settings: web/telemetry/settings.
  const image = `${process.env.COMPOSE_PROJECT_NAME}-web`;
  const options = [...restricted, "--rm", label, "--network=none", "--tmpfs=/tmp:uid=1000"];
  const { code, output } = await docker("run", ...options, "--env=SENTRY_TRACES_SAMPLE_RATE=2", image);
  expect(lastLine(output), output).toMatch(/^culvert: SENTRY_TRACES_SAMPLE_RATE '2' .*from 0 to 1/);
  expect(code).toBe(1);
});
