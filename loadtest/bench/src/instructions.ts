import { mkdirSync } from "node:fs";
import { proxies, tunnelOf, UNLIMITED } from "./contenders.ts";
import { docker } from "./docker.ts";
import { images } from "./images.ts";
import { bench, output, root } from "./paths.ts";
import { Testbed } from "./testbed.ts";
import { ingestHost } from "./workload.ts";

/** Envelopes of the two loads whose costs are subtracted, so that handshakes and the start do not count. */
const [FEW, MANY] = [100, 500];

/** The proxy without one of its parts: a shell command, run in /etc/nginx before it starts. */
const parts: Record<string, string> = {
  "access log": "sed -i 's/^access_log .*/access_log off;/' snippets/tunnel-response.conf",
  "rate and connection limits": "sed -i '/^limit_req zone/d; /^limit_conn tunnel/d' snippets/rate-limits.conf",
  "response headers of its own": "sed -i '/^add_header /d' snippets/tunnel-response.conf",
  "allow-list of request headers":
    "sed -i '/pass_request_headers/d; /^proxy_set_header [COUSX].*[$]/d' snippets/envelope-headers.conf",
  njs: "sed -i /js_header_filter/d snippets/forward-to-ingest.conf",
};

/**
 * What runs by the clock, not by the envelope, would count more the slower the machine is: probes, scrapes by the watch, and handshakes with
 * the ingest after a pause.
 */
const withoutClock =
  "sed -i /js_periodic/d templates/health.conf && sed -i '/^watch &$/d' /culvert/entrypoint.d/65-watch-workers.sh" +
  " && sed -i 's/keepalive_timeout 4s/keepalive_timeout 1h/' templates/ingest-upstream.conf";

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Starts a contender under Callgrind, returns the instructions of one envelope, and removes the container. */
async function count(testbed: Testbed, name: "proxy" | "bare", edit = "true"): Promise<number> {
  const settings = { ...proxies(UNLIMITED).proxy.settings, WEB_UPSTREAM: "sink:8081" };
  const start = name === "bare" ? "CONFIG=/bench/configs/bare.conf nginx -g 'daemon off;'" : "/culvert/entrypoint.sh";
  const [core, image] = ["0", "culvert-bench-instructions"];
  const switches = ["--user=0", "--tmpfs=/tmp", "--entrypoint=sh"];
  await testbed.start(name, {
    ...{ image, core, settings, switches },
    command: ["-c", `cd /etc/nginx && ${withoutClock} && ${edit} && exec ${start.replace("CONFIG=", "env CONFIG=")}`],
  });
  const post = ["--http1.1", "-H", "content-type: text/plain;charset=UTF-8", "--data-binary", "@/run-data/envelope"];
  await testbed.ready(name, ...post, tunnelOf(name));
  const send = async (times: number) => {
    const wanted = ["-w", "%{http_code}\n", `${tunnelOf(name)}#[1-${times}]`];
    const codes = await testbed.exec("sink", "curl", "-sk", "-o", "/dev/null", ...post, ...wanted);
    if (codes.split("\n").some((code) => code !== "200")) throw new Error(`${name} did not accept every envelope`);
    const dump = "callgrind_control -d >/dev/null && sed -n 's/^totals: //p' $(ls -t /tmp/callgrind.* | head -1)";
    return Number(await testbed.exec(name, "sh", "-c", dump));
  };
  await send(FEW);
  const few = await send(FEW);
  const cost = Math.round(((await send(MANY)) - few) / (MANY - FEW));
  await testbed.remove(name);
  return cost;
}

const testbed = new Testbed();
mkdirSync(output, { recursive: true });
try {
  await docker("build", "-t", images.proxy, `${root}/proxy`);
  await docker("build", "-t", "culvert-bench-instructions", `${bench}/instructions`);
  await testbed.open(["proxy", "bare"]);
  const command = ["-c", "/bench/configs/sink.conf", "-g", "daemon off;"];
  const names = [ingestHost, "web", "tunnel-route"];
  await testbed.start("sink", { image: images.proxy, core: "1", names, switches: ["--entrypoint=nginx"], command });
  say("| | Instructions per envelope |\n|---|--:|");
  say(`| bare Nginx | ${await count(testbed, "bare")} |`);
  const whole = await count(testbed, "proxy");
  say(`| proxy | ${whole} |`);
  for (const [part, edit] of Object.entries(parts))
    say(`| of these: ${part} | ${whole - (await count(testbed, "proxy", edit))} |`);
} finally {
  await testbed.close();
}
