import { readFileSync } from "node:fs";
import { app, hardened, noIngest, proxy, spool, UNLIMITED, withConfig } from "../contenders.ts";
import { images } from "../images.ts";
import { root } from "../paths.ts";
import type { Cores } from "../processor.ts";
import type { Testbed } from "../testbed.ts";
import { ingestHost } from "../workload.ts";
import type { Attack } from "./cases.ts";

/** For documentation (RFC 5737), so not private: the proxy limits what one client of a public address may have open. */
const subnet = "198.51.100.0/24";

/** The memory that the compose file gives to proxy, web and spool, in its order, and the proxy's folders in memory. */
const compose = readFileSync(`${root}/docker-compose.yml`, "utf8");
const [proxyMemory, webMemory, spoolMemory] = [...compose.matchAll(/mem_limit: (\S+)/g)].map(([, size]) => size);
const folders: string[] = JSON.parse(/tmpfs: (\[.*\])/.exec(compose)?.[1] ?? "[]");
/** Of the processor, Docker's default being 1,024: other work on the machine, and the attacker beside the honest client, wait. */
const SHARES = "--cpu-shares=200000";
export const ATTACKER_SHARES = "--cpu-shares=10000";
const limited = (memory = "") => [
  ...hardened,
  "--pids-limit=512",
  SHARES,
  `--memory=${memory}`,
  `--memory-swap=${memory}`,
];

/** Where the honest client and the attacker find the proxy. */
export const origin = "https://proxy:8443";

/** Starts what all attacks share: sink, the honest client's container, and web. */
export async function startShared(testbed: Testbed, cores: Cores): Promise<void> {
  await testbed.open(["proxy"], subnet);
  const { switches, command } = withConfig("sink.conf");
  const sink = { image: images.proxy, core: cores.sink, names: [ingestHost], command };
  await testbed.start("sink", { ...sink, switches: [...switches, SHARES] });
  const load = { image: images.tools, core: cores.load, switches: [SHARES], command: ["sleep", "7200"] };
  await testbed.start("load", load);
  const web = app(images.web);
  await testbed.start("web", {
    ...{ ...web, core: cores.subject },
    switches: [...web.switches, ...limited(webMemory).slice(hardened.length)],
  });
  await testbed.ready("web", "http://web:3000/");
}

/** Starts a proxy and a spool for this attack, with the limits of the compose file; returns the path of one of web's hashed files. */
export async function startProxy(testbed: Testbed, cores: Cores, attack: Attack): Promise<string> {
  const dsn: Record<string, string> = attack.ingestDown ? { SENTRY_DSN: noIngest.dsn } : {};
  const defaults = { TUNNEL_RATE_PER_CLIENT: "", SPOOL_UPSTREAM: "spool:8082" };
  const { settings, image } = proxy("proxy", UNLIMITED, { ...defaults, ...dsn, ...attack.settings });
  const switches = [...limited(proxyMemory), ...folders.map((folder) => `--tmpfs=${folder}`)];
  await testbed.start("spool", { ...spool(dsn), switches: limited(spoolMemory), core: cores.subject });
  await testbed.ready("spool", "http://spool:8082/healthz");
  await testbed.start("proxy", { image, settings, switches, core: cores.subject });
  await testbed.ready("proxy", `${origin}/`);
  const page = await testbed.exec("sink", "curl", "-sk", `${origin}/`);
  const file = /\/_next\/static\/[^"]+\.js/.exec(page)?.[0];
  if (!file) throw new Error("web's page names no hashed file");
  return file;
}

/** What an attack took of the proxy. */
export interface Resources {
  memoryMb: number;
}

/** Reads how much memory the proxy's container used at most; throws if a worker was killed, which ends the container. */
export async function resources(testbed: Testbed): Promise<Resources> {
  const peak = "cat /sys/fs/cgroup/memory.peak 2>/dev/null || cat /sys/fs/cgroup/memory/memory.max_usage_in_bytes";
  return { memoryMb: Math.round(Number(await testbed.exec("proxy", "sh", "-c", peak)) / 1e6) };
}
