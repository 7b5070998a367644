import { images } from "./images.ts";
import { type Load, parseWrk, wrk } from "./load.ts";
import { cores, type Part, type Testbed } from "./testbed.ts";
import { dsn, handlerPath, ingestHost, tunnelPath, tunnelTarget } from "./workload.ts";

export const hardened = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
const nginx = [...hardened, "--tmpfs=/tmp:uid=101,mode=0700"];
const withConfig = (file: string) => ({
  switches: [...nginx, "--entrypoint=nginx"],
  command: ["-c", `/bench/configs/${file}`, "-g", "daemon off;"],
});
const certificate = "/tls/server.crt";
/** The sample rate is compose's default with a DSN of your own. */
const telemetry = { SENTRY_DSN: dsn, TUNNEL_PATH: tunnelPath, SENTRY_TRACES_SAMPLE_RATE: "0.1" };
const subject = { core: cores.subject };

export const app = (image: string): Part => ({
  ...{ image, ...subject, switches: [...hardened, "--tmpfs=/tmp:uid=1000,mode=0700"] },
  settings: { ...telemetry, NODE_EXTRA_CA_CERTS: certificate },
});

/** The proxy without a rate limit on envelopes: the load comes from one client. */
export const proxy = (name: string, more: Record<string, string> = {}): Part => ({
  ...{ image: images.proxy, ...subject, switches: nginx },
  settings: {
    ...{ ...telemetry, SERVER_NAME: name, TUNNEL_RATE_PER_CLIENT: "999999", INGEST_CA_FILE: certificate },
    ...{ TLS_CERT_FILE: certificate, TLS_KEY_FILE: "/tls/server.key", ...more },
  },
});

export const spool = (settings: Record<string, string>): Part => ({
  ...{ image: images.spool, ...subject, switches: hardened },
  settings: { ...telemetry, INGEST_CA_FILE: certificate, ...settings },
});

/** The ingest. */
export const sink: Part = { image: images.proxy, core: cores.load, names: [ingestHost], ...withConfig("sink.conf") };
/** Where the load generators run. */
export const load: Part = { image: images.tools, core: cores.load, command: ["sleep", "7200"] };

export const contenders: Record<string, Part> = {
  web: app(images.web),
  proxy: proxy("proxy"),
  bare: { image: images.proxy, ...subject, ...withConfig("bare.conf") },
  caddy: {
    image: images.tools,
    ...subject,
    command: ["caddy", "run", "--adapter=caddyfile", "--config=/bench/configs/Caddyfile"],
  },
  "tunnel-route": app(images.nextTunnels),
  handler: app(images.nextTunnels),
  "serve-tunnel": app(images.serveTunnel),
};

/** The contenders without a proxy: they speak plain HTTP, which saves them the cost of TLS. */
const apps = ["web", "tunnel-route", "handler", "serve-tunnel"];

/** A contender's origin. */
export const originOf = (name: string) => (apps.includes(name) ? `http://${name}:3000` : `https://${name}:8443`);

/** The address where a contender accepts envelopes. */
export const tunnelOf = (name: string) => `${originOf(name)}${name === "handler" ? handlerPath : tunnelTarget}`;

/** Starts sink, load generator and these contenders, and waits until all of them answer a page or an envelope. */
export async function startAll(testbed: Testbed, names: string[], path: "/" | "tunnel"): Promise<void> {
  await testbed.open(names);
  await testbed.start("sink", sink);
  await testbed.start("load", load);
  // The proxy needs `web`.
  for (const name of new Set(["web", ...names])) await testbed.start(name, contenders[name] as Part);
  await testbed.ready("web", `${originOf("web")}/`);
  const post = ["--data-binary", "@/run-data/envelope", "-H", "content-type: text/plain"];
  for (const name of names)
    await testbed.ready(name, ...(path === "/" ? [`${originOf(name)}/`] : [...post, tunnelOf(name)]));
}

/** Runs wrk in the load's container. */
export async function runWrk(testbed: Testbed, ...args: Parameters<typeof wrk>): Promise<Load> {
  return parseWrk(await testbed.exec("load", ...wrk(...args)));
}
