import { dsn, ingestHost, tunnelPath, tunnelTarget } from "./far-end.ts";
import { images } from "./images.ts";
import { root } from "./places.ts";
import type { Cores } from "./processor.ts";
import type { Part, Stage } from "./stage.ts";

const hardened = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
const nginx = [...hardened, "--tmpfs=/tmp:uid=101,mode=0700"];
const withConfig = (file: string) => ({
  switches: [...nginx, "--entrypoint=nginx"],
  command: ["-c", `/bench/configs/${file}`, "-g", "daemon off;"],
});
const certificate = "/tls/server.crt";
/** The share of traces is the compose file's for a DSN of one's own. */
const telemetry = { SENTRY_DSN: dsn, TUNNEL_PATH: tunnelPath, SENTRY_TRACES_SAMPLE_RATE: "0.1" };

/** All load comes from one address and means to find the end: the edge's limits would find it first. */
const UNLIMITED = 999_999;

const app = (image: string, other: Record<string, string> = {}) => ({
  image,
  switches: [...hardened, "--tmpfs=/tmp:uid=1000,mode=0700"],
  settings: { ...telemetry, NODE_EXTRA_CA_CERTS: certificate, ...other },
});

const edge = (name: string, total = UNLIMITED, more: Record<string, string> = {}) => ({
  image: images.proxy,
  switches: nginx,
  settings: {
    ...telemetry,
    SERVER_NAME: name,
    TUNNEL_RATE_PER_CLIENT: String(UNLIMITED),
    TUNNEL_RATE_TOTAL: String(total),
    INGEST_CA_FILE: certificate,
    TLS_CERT_FILE: certificate,
    TLS_KEY_FILE: "/tls/server.key",
    ...more,
  },
});

/** The apps, by themselves; of `web` also what its telemetry could be set to. */
const apps = {
  web: app(images.web),
  "no-telemetry": app(images.web, { SENTRY_DSN: "" }),
  "errors-only": app(images.web, { SENTRY_TRACES_SAMPLE_RATE: "0" }),
  "every-trace": app(images.web, { SENTRY_TRACES_SAMPLE_RATE: "1" }),
  "tunnel-route": app(images.tunnelRoute),
  "tunnel-handler": app(images.tunnelHandler),
};

/** An ingest that refuses every connection, so that the spool has to keep what it takes. */
const noIngest = { dsn: "http://key@127.0.0.1:9/1", url: "http://127.0.0.1:9/api/1/envelope/" };

const spool = (settings: Record<string, string>) => ({
  image: images.spool,
  switches: hardened,
  settings: { ...telemetry, INGEST_CA_FILE: certificate, ...settings },
});

/** The spools: one that the edge `edge-spool` would hand over to, and one that is filled. */
const spools = { spool: spool({}), "spool-filled": spool({ SENTRY_DSN: noIngest.dsn, SPOOL_MAX_MB: "8192" }) };

/** The spool that is filled: its address, and the one that it is told to deliver to. */
export const filled = { url: "http://spool-filled:8082/", to: noIngest.url };

/**
 * What takes reports over TLS. Of the edges, `edge-apart` is not on web's core, `edge-limited` has its limit in force, and
 * `edge-spool` has a spool beside it.
 */
const proxies = (limit: number) => ({
  edge: edge("edge"),
  "edge-apart": edge("edge-apart"),
  "edge-limited": edge("edge-limited", limit),
  "edge-spool": edge("edge-spool", UNLIMITED, { SPOOL_UPSTREAM: "spool:8082" }),
  bare: { image: images.proxy, ...withConfig("bare.conf") },
  haproxy: { image: images.tools, command: ["haproxy", "-f", "/bench/configs/haproxy.cfg"] },
  caddy: { image: images.tools, command: ["caddy", "run", "--adapter=caddyfile", "--config=/bench/configs/Caddyfile"] },
});

/** Everything that takes reports or pages. */
export type Contender = keyof typeof apps | keyof ReturnType<typeof proxies>;

/** Where a contender is found: an app by itself speaks plain HTTP, which spares it the cost of TLS. */
export function originOf(name: Contender): string {
  return name in apps ? `http://${name}:3000` : `https://${name}:8443`;
}

/** Where a contender takes reports. */
export function tunnelOf(name: Contender): string {
  return `${originOf(name)}${tunnelTarget}`;
}

/** The address of tunnelRoute behind the bare Nginx, which adds TLS and nothing else. */
export const tunnelRouteBehindTls = `${originOf("bare")}/to-tunnel-route${tunnelTarget.slice(tunnelPath.length)}`;

/** Starts sink, load and contenders, and waits until every one answers; throws with the log of one that does not. `limit`: reports a second. */
export async function startAll(stage: Stage, cores: Cores, limit: number): Promise<void> {
  const tunnels: Record<string, Omit<Part, "core">> = proxies(limit);
  await stage.open(Object.keys(tunnels));
  await stage.start("sink", {
    image: images.proxy,
    core: cores.sink,
    names: [ingestHost],
    ...withConfig("sink.conf"),
  });
  await stage.start("load", {
    image: images.tools,
    core: cores.load,
    switches: [`--volume=${root}/proxy/spool/bench:/spool-bench:ro`],
    command: ["sleep", "7200"],
  });
  for (const [name, part] of Object.entries(spools)) {
    await stage.start(name, { ...part, core: cores.subject });
    await stage.ready(name, `http://${name}:8082/healthz`);
  }
  for (const [name, part] of Object.entries(apps)) await stage.start(name, { ...part, core: cores.subject });
  for (const [name, part] of Object.entries(tunnels)) {
    await stage.start(name, { ...part, core: name === "edge-apart" ? cores.load : cores.subject });
  }

  for (const name of ["web", "no-telemetry", "errors-only", "every-trace"] as const)
    await stage.ready(name, `${originOf(name)}/`);
  const names = [...Object.keys(tunnels), "tunnel-route", "tunnel-handler"] as Contender[];
  const report = ["--data-binary", "@/run-data/envelope", "-H", "content-type: text/plain"];
  for (const name of names) await stage.ready(name, ...report, tunnelOf(name));
}
