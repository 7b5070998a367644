import { afterAll, expect, test } from "vitest";
import { must, run } from "./run.ts";

const environment = {
  COMPOSE_PROJECT_NAME: `culvert-unused-${process.pid}`,
  COMPOSE_FILE: "deploy/test/unused.compose.yml",
};
const start = async (settings: Record<string, string>) => {
  const script = "for file in lib stack; do . deploy/host/$file.sh; done; replicas() { echo 1; }; rest";
  await must(["sh", "-euc", script], { ...environment, ...settings });
  const { output } = await run(["docker", "compose", "--profile", "*", "ps", "--all", "--services"], environment);
  return output.trim().split("\n").sort();
};

afterAll(async () => {
  await run(["docker", "compose", "--profile", "*", "down", "-t", "0"], environment);
});

test("make up removes the services that the settings no longer include", async () => {
  expect(await start({ ACME: "on", SENTRY_DSN: "" })).toEqual(["acme", "ingest", "proxy", "web"]);
  const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";
  expect(await start({ ACME: "off", SENTRY_DSN })).toEqual(["proxy", "web"]);
  expect(await start({ ACME: "off", SENTRY_DSN })).toEqual(["proxy", "web"]);
});
