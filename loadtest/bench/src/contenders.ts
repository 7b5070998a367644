import { images } from "./images.ts";
import { root } from "./paths.ts";
import type { Cores } from "./processor.ts";
import type { Part, Testbed } from "./testbed.ts";
import { dsn, ingestHost, tunnelPath, tunnelTarget } from "./workload.ts";

export const hardened = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
const nginx = [...hardened, "--tmpfs=/tmp:uid=101,mode=0700"];
export const withConfig = (file: string) => ({
  switches: [...nginx, "--entrypoint=nginx"],
  command: ["-c", `/bench/configs/${file}`, "-g", "daemon off;"],
});
const certificate = "/tls/server.crt";
/** The sample rate is compose's default with a DSN of your own. */
const telemetry = { SENTRY_DSN: dsn, TUNNEL_PATH: tunnelPath, SENTRY_TRACES_SAMPLE_RATE: "0.1" };

/** The load comes from one client IP and must not be rate-limited. */
export const UNLIMITED = 999_999;

export const app = (image: string, other: Record<string, string> = {}) => ({
  image,
  switches: [...hardened, "--tmpfs=/tmp:uid=1000,mode=0700"],
  settings: { ...telemetry, NODE_EXTRA_CA_CERTS: certificate, ...other },
});

export const proxy = (name: string, rate = UNLIMITED, more: Record<string, string> = {}) => ({
  image: images.proxy,
  switches: nginx,
  settings: {
    ...telemetry,
    SERVER_NAME: name,
    TUNNEL_RATE_PER_CLIENT: String(rate),
    INGEST_CA_FILE: certificate,
    TLS_CERT_FILE: certificate,
    TLS_KEY_FILE: "/tls/server.key",
    ...more,
  },
});

/** The apps without a proxy; `web` with several telemetry settings. */
const apps = {
  web: app(images.web),
  "no-telemetry": app(images.web, { SENTRY_DSN: "" }),
  "errors-only": app(images.web, { SENTRY_TRACES_SAMPLE_RATE: "0" }),
  "every-trace": app(images.web, { SENTRY_TRACES_SAMPLE_RATE: "1" }),
  "tunnel-route": app(images.tunnelRoute),
  "tunnel-handler": app(images.tunnelHandler),
};

/** An ingest that refuses every connection, so that the spool queues all envelopes. */
export const noIngest = { dsn: "http://key@127.0.0.1:9/1", url: "http://127.0.0.1:9/api/1/envelope/" };

export const spool = (settings: Record<string, string>) => ({
  image: images.spool,
  switches: hardened,
  settings: { ...telemetry, INGEST_CA_FILE: certificate, ...settings },
});

/** The spools: one for the proxy `proxy-with-spool`, and one that is filled. */
const spools = { spool: spool({}), "spool-filled": spool({ SENTRY_DSN: noIngest.dsn, SPOOL_MAX_MB: "8192" }) };

/** The address of the spool that is filled, and its destination. */
export const filled = { url: "http://spool-filled:8082/", to: noIngest.url };

/**
 * The contenders that accept envelopes over TLS. `proxy-other-core` is not pinned to web's core, `proxy-rate-limited` enforces its rate
 * limit, and `proxy-with-spool` has a spool.
 */
export const proxies = (limit: number) => ({
  proxy: proxy("proxy"),
  "proxy-other-core": proxy("proxy-other-core"),
  "proxy-rate-limited": proxy("proxy-rate-limited", limit),
  "proxy-with-spool": proxy("proxy-with-spool", UNLIMITED, { SPOOL_UPSTREAM: "spool:8082" }),
  bare: { image: images.proxy, ...withConfig("bare.conf") },
  haproxy: { image: images.tools, command: ["haproxy", "-f", "/bench/configs/haproxy.cfg"] },
  "haproxy-same-work": {
    image: images.tools,
    command: ["haproxy", "-f", "/bench/configs/haproxy-same-work.cfg"],
  },
  caddy: { image: images.tools, command: ["caddy", "run", "--adapter=caddyfile", "--config=/bench/configs/Caddyfile"] },
});

/** A proxy that sheds pages beyond this many open ones: started when the capacity is known. */
export async function startShedding(testbed: Testbed, cores: Cores, openPages: number): Promise<void> {
  const name: Contender = "proxy-shedding";
  await testbed.start(name, {
    ...proxy(name, UNLIMITED, { MAX_CONCURRENT_PAGES_PER_REPLICA: String(openPages) }),
    core: cores.subject,
  });
  await testbed.ready(name, `${originOf(name)}/`);
}

/** Every contender that serves envelopes or pages. */
export type Contender = keyof typeof apps | keyof ReturnType<typeof proxies> | "proxy-shedding";

/** A contender's origin: an app without a proxy speaks plain HTTP, which saves it the cost of TLS. */
export function originOf(name: Contender): string {
  return name in apps ? `http://${name}:3000` : `https://${name}:8443`;
}

/** The address where a contender accepts envelopes. */
export function tunnelOf(name: Contender): string {
  return `${originOf(name)}${tunnelTarget}`;
}

/** The address of tunnelRoute behind the bare Nginx, which only terminates TLS. */
export const tunnelRouteBehindTls = `${originOf("bare")}/to-tunnel-route${tunnelTarget.slice(tunnelPath.length)}`;

/** Starts sink, load generator and contenders, and waits until all of them respond; throws with the log of one that does not. `limit` is
 * in envelopes per second. */
export async function startAll(testbed: Testbed, cores: Cores, limit: number): Promise<void> {
  const tunnels: Record<string, Omit<Part, "core">> = proxies(limit);
  await testbed.open([...Object.keys(tunnels), "proxy-shedding"]);
  await testbed.start("sink", {
    image: images.proxy,
    core: cores.sink,
    names: [ingestHost],
    ...withConfig("sink.conf"),
  });
  await testbed.start("load", {
    image: images.tools,
    core: cores.load,
    switches: [`--volume=${root}/proxy/spool/bench:/spool-bench:ro`],
    command: ["sleep", "7200"],
  });
  for (const [name, part] of Object.entries(spools)) {
    await testbed.start(name, { ...part, core: cores.subject });
    await testbed.ready(name, `http://${name}:8082/healthz`);
  }
  for (const [name, part] of Object.entries(apps)) await testbed.start(name, { ...part, core: cores.subject });
  for (const [name, part] of Object.entries(tunnels)) {
    await testbed.start(name, { ...part, core: name === "proxy-other-core" ? cores.load : cores.subject });
  }

  for (const name of ["web", "no-telemetry", "errors-only", "every-trace"] as const)
    await testbed.ready(name, `${originOf(name)}/`);
  const names = [...Object.keys(tunnels), "tunnel-route", "tunnel-handler"] as Contender[];
  const post = ["--data-binary", "@/run-data/envelope", "-H", "content-type: text/plain"];
  for (const name of names) await testbed.ready(name, ...post, tunnelOf(name));
}
