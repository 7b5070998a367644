import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

test.each([
  "docker-compose.yml",
  "deploy/app/compose.yml",
  "deploy/checks/ingest.ts",
  "deploy/checks/cluster/ask-proxy.sh",
  "deploy/kubernetes/templates/_web-pod.tpl",
  "deploy/kubernetes/templates/tests/pod.yaml",
  "proxy/snippets/untraced.conf",
])("what %s asks the app belongs to a trace that is not sampled", (file) => {
  // The last field of https://develop.sentry.dev/sdk/foundations/trace-propagation/#header-sentry-trace
  expect(readFileSync(`${root}/${file}`, "utf8")).toMatch(/sentry-trace[\s\S]*-0[`'"; }]/i);
});
