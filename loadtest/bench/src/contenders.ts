import { images } from "./images.ts";
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

/** The apps without a proxy. */
const apps = { web: app(images.web), "tunnel-route": app(images.tunnelRoute) };

/** An ingest that refuses every connection, so that the spool queues all envelopes. */
export const noIngest = { dsn: "http://key@127.0.0.1:9/1", url: "http://127.0.0.1:9/api/1/envelope/" };

export const spool = (settings: Record<string, string>) => ({
  image: images.spool,
  switches: hardened,
  settings: { ...telemetry, INGEST_CA_FILE: certificate, ...settings },
});

/** The contenders that accept envelopes over TLS. */
const proxies = {
  proxy: proxy("proxy"),
  bare: { image: images.proxy, ...withConfig("bare.conf") },
  haproxy: { image: images.tools, command: ["haproxy", "-f", "/bench/configs/haproxy.cfg"] },
  caddy: { image: images.tools, command: ["caddy", "run", "--adapter=caddyfile", "--config=/bench/configs/Caddyfile"] },
};

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
export type Contender = keyof typeof apps | keyof typeof proxies | "proxy-shedding";

/** A contender's origin: an app without a proxy speaks plain HTTP, which saves it the cost of TLS. */
export const originOf = (name: Contender) => (name in apps ? `http://${name}:3000` : `https://${name}:8443`);

/** The address where a contender accepts envelopes. */
export const tunnelOf = (name: Contender) => `${originOf(name)}${tunnelTarget}`;

/** Starts sink, load generator and contenders, and waits until all of them respond. */
export async function startAll(testbed: Testbed, cores: Cores): Promise<void> {
  await testbed.open([...Object.keys(proxies), "proxy-shedding"]);
  const sink = { image: images.proxy, core: cores.sink, names: [ingestHost], ...withConfig("sink.conf") };
  await testbed.start("sink", sink);
  await testbed.start("load", { image: images.tools, core: cores.load, command: ["sleep", "7200"] });
  const parts: Record<string, Omit<Part, "core">> = { ...apps, ...proxies };
  for (const [name, part] of Object.entries(parts)) await testbed.start(name, { ...part, core: cores.subject });

  await testbed.ready("web", `${originOf("web")}/`);
  const post = ["--data-binary", "@/run-data/envelope", "-H", "content-type: text/plain"];
  const names = [...Object.keys(proxies), "tunnel-route"] as Contender[];
  for (const name of names) await testbed.ready(name, ...post, tunnelOf(name));
}
