import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "./run.ts";
import { docker, label } from "./support/docker.ts";

// Runs beside the tests' stack, with a client on each of its two shared networks, such as an operator may attach.
const project = process.env.COMPOSE_PROJECT_NAME ?? "culvert";
const networks = ["outside", "inside"] as const;
type Network = (typeof networks)[number];
const client = (network: Network) => `${project}-${network}-client-${process.pid}`;

/** The address of a service's first container in one of the networks. */
async function address(service: string, network: Network): Promise<string> {
  const [container = ""] = (await must(["docker", "compose", "ps", "-q", service])).split("\n");
  const format = `--format={{(index .NetworkSettings.Networks "${project}_${network}").IPAddress}}`;
  return must(["docker", "inspect", format, container]);
}

/** The status of each response that a client on the network gets, or "none". */
async function responses(network: Network, urls: string[]): Promise<(number | "none")[]> {
  const script = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const headers = { "X-Forwarded-For": "127.0.0.1" };
    const status = (url) => fetch(url, { redirect: "manual", headers, signal: AbortSignal.timeout(5_000) })
      .then((response) => response.status, () => "none");
    Promise.all(process.argv.slice(1).map(status)).then((all) => console.log(JSON.stringify(all)));`;
  return JSON.parse(await must(["docker", "exec", client(network), "node", "--no-warnings", "-e", script, ...urls]));
}

const internal = (proxy: string, spool: string) => [
  `http://${proxy}:8081/healthz`,
  `http://${proxy}:8081/metrics`,
  `http://${proxy}:8081/web`,
  `http://${proxy}:8083/envelopes`,
  `http://${proxy}:8083/`,
  `http://${spool}:8082/healthz`,
  `http://${spool}:8082/metrics`,
];
const answered = [200, 200, 200, 405, 404, 200, 200];
const refused = [403, 403, 403, 403, 403, "none", "none"];
const unreachable = answered.map(() => "none");

beforeAll(async () => {
  for (const network of networks)
    await must([
      ...["docker", "run", "-d", "--init", label, `--name=${client(network)}`, `--network=${project}_${network}`],
      ...["node:24-trixie-slim", "sleep", "infinity"],
    ]);
});
afterAll(() => docker("rm", "-f", ...networks.map(client)));

test("a container on `outside` alone gets nothing from the ports that are never published, by name or address; it may use the public ones", async () => {
  const from = (proxy: string, spool: string) => responses("outside", internal(proxy, spool));
  expect(await from("proxy", "spool")).toEqual(refused);
  expect(await from(`proxy.${project}_inside`, `spool.${project}_inside`)).toEqual(unreachable);
  expect(await from(await address("proxy", "inside"), await address("spool", "inside"))).toEqual(unreachable);
  expect(await responses("outside", ["http://proxy:8080/", "https://proxy:8443/"])).toEqual([421, 421]);
});

test("a container on `inside` gets answers from all of them", async () => {
  expect(await responses("inside", internal("proxy", "spool"))).toEqual(answered);
});
