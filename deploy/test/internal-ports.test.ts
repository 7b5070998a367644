import { expect, test } from "vitest";
import { must } from "./run.ts";
import { label } from "./support/docker.ts";

// Runs beside the tests' stack, as a container that an operator may attach to its outer network. Prometheus is one on the inner network:
// monitoring.test.ts.
const project = process.env.COMPOSE_PROJECT_NAME ?? "culvert";

/** The address of a service's first container in the inner network. */
async function innerAddress(service: string): Promise<string> {
  const [container = ""] = (await must(["docker", "compose", "ps", "-q", service])).split("\n");
  const format = `--format={{(index .NetworkSettings.Networks "${project}_inside").IPAddress}}`;
  return must(["docker", "inspect", format, container]);
}

const internal = (proxy: string, spool: string) => [
  `http://${proxy}:8081/healthz`,
  `http://${proxy}:8081/metrics`,
  `http://${proxy}:8081/web/healthz`,
  `http://${proxy}:8083/envelopes`,
  `http://${spool}:8082/metrics`,
];

test("a container on `outside` alone gets nothing from the ports that are never published, by name or address", async () => {
  const urls = [
    ...internal("proxy", "spool"),
    ...internal(`proxy.${project}_inside`, `spool.${project}_inside`),
    ...internal(await innerAddress("proxy"), await innerAddress("spool")),
    ...["http://proxy:8080/", "https://proxy:8443/"],
  ];
  const script = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const headers = { "X-Forwarded-For": "127.0.0.1" };
    const status = (url) => fetch(url, { redirect: "manual", headers, signal: AbortSignal.timeout(5_000) })
      .then((response) => response.status, () => "none");
    Promise.all(process.argv.slice(1).map(status)).then((all) => console.log(JSON.stringify(all)));`;
  const client = ["docker", "run", "--rm", "--init", label, `--network=${project}_outside`, "node:24-trixie-slim"];
  const statuses = JSON.parse(await must([...client, "node", "--no-warnings", "-e", script, ...urls]));
  const unreachable = Array(10).fill("none");
  expect(statuses).toEqual([403, 403, 403, 403, "none", ...unreachable, 421, 421]);
});
