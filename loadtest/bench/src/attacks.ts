import { readFileSync } from "node:fs";
import { type Attack, attackCases } from "./attack-cases.ts";
import { app, hardened, load, proxy, sink, spool } from "./contenders.ts";
import { root } from "./docker.ts";
import { images } from "./images.ts";
import { type OpenLoad, openLoop, parseOpenLoop } from "./load.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { cores, type Part, type Testbed, withTestbed } from "./testbed.ts";

/** For documentation (RFC 5737), so not private: the proxy limits what one client of a public address may have open. */
const SUBNET = "198.51.100.0/24";
const ORIGIN = "https://proxy:8443";
/** Longer than anybody waits. */
const TIMEOUT_S = 20;
const WARM_UP_S = 3;

/** The memory that the compose file gives to proxy, web and spool, in its order, and the proxy's folders in memory. */
const compose = readFileSync(`${root}/docker-compose.yml`, "utf8");
const [proxyMemory, webMemory, spoolMemory] = [...compose.matchAll(/mem_limit: (\S+)/g)].map(([, size]) => size);
const folders: string[] = JSON.parse(/tmpfs: (\[.*\])/.exec(compose)?.[1] ?? "[]");
/** Shares of the processor (Docker's default: 1,024). Other work on the machine waits, and so does the attacker beside the other client. */
const [SHARES, ATTACKER_SHARES] = ["--cpu-shares=200000", "--cpu-shares=10000"];
const limited = (part: Part, memory = ""): Part => ({
  ...part,
  switches: [...(part.switches ?? []), "--pids-limit=512", SHARES, `--memory=${memory}`, `--memory-swap=${memory}`],
});

/** What another client requests, each time on a new connection, and what it expects. */
const requests = {
  page: { path: "/", rate: 10, expected: 200 },
  file: { path: "FILE", rate: 5, expected: 200 },
  // An address that web has not: the answer is web's own.
  form: {
    ...{ path: "/api/x", rate: 2, expected: 404, body: "/tmp/form" },
    headers: { "content-type": "application/octet-stream" },
  },
  envelope: {
    ...{ path: "/monitoring", rate: 5, expected: 200, body: "/tmp/envelope.gz" },
    headers: { "content-type": "text/plain;charset=UTF-8", "content-encoding": "gzip" },
  },
};
type Seen = Record<keyof typeof requests, OpenLoad>;

/** Attacks the proxy as one client, and measures what another one notices. */
export async function attacks({ attackSeconds }: Options): Promise<Comparison> {
  const rows = await withTestbed(async (testbed) => {
    await startShared(testbed);
    const rows: Comparison["rows"] = [];
    for (const attack of attackCases) rows.push(await run(testbed, attack, attackSeconds));
    return rows;
  });
  return {
    title: "What another client notices of one client's attack",
    how: `Times of pages in ms, ${attackSeconds} s before and during the attack; failed of all its requests.`,
    head: ["attack", "p50 before", "p50", "p99", "failed"],
    rows,
  };
}

async function run(testbed: Testbed, attack: Attack, seconds: number): Promise<Comparison["rows"][number]> {
  const file = await startProxy(testbed, attack);
  await observe(testbed, file, WARM_UP_S);
  const before = await observe(testbed, file, seconds);
  const given = Object.entries({ HOST: "proxy", ...attack.attacker });
  await testbed.start("attacker", {
    ...{ image: images.tools, core: cores.load, switches: ["--ulimit=nofile=20000", ATTACKER_SHARES] },
    settings: Object.fromEntries(given.map(([name, value]) => [name, value === "FILE" ? file : value])),
    command: ["node", "--disable-warning=ExperimentalWarning", "/bench/src/attacker.ts"],
  });
  const during = await observe(testbed, file, seconds);
  // An attack that reached nothing is none.
  process.stderr.write(`    ${attack.title}: ${await testbed.stop("attacker")}\n`);
  for (const name of ["attacker", "proxy", "spool"]) await testbed.remove(name);
  const sum = (key: "failed" | "requests") => Object.values(during).reduce((total, one) => total + one[key], 0);
  const { p50, p99 } = during.page;
  return [attack.title, before.page.p50, p50, p99, `${sum("failed")} of ${sum("requests")}`];
}

/** Requests pages, a hashed file, forms of 20 KB and compressed envelopes at constant rates. */
async function observe(testbed: Testbed, file: string, seconds: number): Promise<Seen> {
  const seen = Object.entries(requests).map(async ([name, { path, rate, expected, ...more }]) => {
    const url = ORIGIN + (path === "FILE" ? file : path);
    const command = openLoop({ url, rate, seconds, ...more, timeoutSeconds: TIMEOUT_S });
    return [name, parseOpenLoop(await testbed.exec("load", ...command), seconds, expected)];
  });
  return Object.fromEntries(await Promise.all(seen));
}

/** Starts what all attacks share: sink, the other client's container with its bodies, and web. */
async function startShared(testbed: Testbed): Promise<void> {
  await testbed.open(["proxy"], SUBNET);
  await testbed.start("sink", { ...sink, switches: [...(sink.switches ?? []), SHARES] });
  await testbed.start("load", { ...load, switches: [SHARES] });
  await testbed.start("web", limited(app(images.web), webMemory));
  await testbed.ready("web", "http://web:3000/");
  const bodies = "head -c 20000 /dev/zero >/tmp/form; gzip -c /run-data/envelope >/tmp/envelope.gz";
  await testbed.exec("load", "sh", "-c", bodies);
}

/** Starts a proxy and a spool for this attack, with the limits of the compose file; returns the path of one of web's hashed files. */
async function startProxy(testbed: Testbed, { settings = {} }: Attack): Promise<string> {
  const { SENTRY_DSN } = settings;
  await testbed.start("spool", limited(spool(SENTRY_DSN ? { SENTRY_DSN } : {}), spoolMemory));
  await testbed.ready("spool", "http://spool:8082/healthz");
  const own = proxy("proxy", { TUNNEL_RATE_PER_CLIENT: "", SPOOL_UPSTREAM: "spool:8082", ...settings });
  const switches = [...hardened, ...folders.map((folder) => `--tmpfs=${folder}`)];
  await testbed.start("proxy", limited({ ...own, switches }, proxyMemory));
  await testbed.ready("proxy", `${ORIGIN}/`);
  const file = /\/_next\/static\/[^"]+\.js/.exec(await testbed.exec("sink", "curl", "-sk", `${ORIGIN}/`))?.[0];
  if (!file) throw new Error("web's page names no hashed file");
  return file;
}
