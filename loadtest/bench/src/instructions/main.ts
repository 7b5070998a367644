import { mkdirSync } from "node:fs";
import { originOf, proxies, UNLIMITED } from "../contenders.ts";
import { docker } from "../docker.ts";
import { images } from "../images.ts";
import { bench, output, root } from "../paths.ts";
import { Testbed } from "../testbed.ts";
import { ingestHost } from "../workload.ts";
import { writeApp } from "./app.ts";
import { type Counted, requests } from "./requests.ts";

/**
 * What runs by the clock, not by the request, would count more the slower the machine is: probes, scrapes by the watch, and handshakes with
 * the upstreams after a pause.
 */
const withoutClock =
  "sed -i /js_periodic/d templates/health.conf && sed -i '/^watch &$/d' /culvert/entrypoint.d/watch-workers.sh" +
  " && sed -i 's/keepalive_timeout 4s/keepalive_timeout 1h/' templates/ingest/upstream.conf templates/web-upstream.conf";

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Requests what is not answered, and waits until the proxy answers `url` with `status` for it; throws if it does not. */
async function occupy(
  testbed: Testbed,
  asked: string[],
  unanswered: string,
  url: string,
  status: string,
): Promise<void> {
  const shell = (script: string, address: string) => testbed.exec("sink", "sh", "-c", script, "sh", ...asked, address);
  // Ends with the proxy's container. Repeated while the other loop's requests are in its way.
  shell(`while [ "$("$@")" = ${status} ]; do :; done`, unanswered).catch(() => {});
  await shell(`n=0; until [ "$("$@")" = ${status} ]; do n=$((n + 1)); [ $n -lt 200 ] || exit 1; sleep 0.3; done`, url);
}

/** Starts a contender under Callgrind, returns the instructions of one request, and removes the container. */
async function count(
  testbed: Testbed,
  name: "proxy" | "bare",
  request: Counted,
  edits: string[] = [],
): Promise<number> {
  const settings = { ...proxies(UNLIMITED).proxy.settings, WEB_UPSTREAM: "web:3000", ...request.settings };
  const start = name === "bare" ? "CONFIG=/bench/configs/bare.conf nginx -g 'daemon off;'" : "/culvert/entrypoint.sh";
  const [core, image] = ["0", "culvert-bench-instructions"];
  const switches = ["--user=0", "--tmpfs=/tmp", "--entrypoint=sh"];
  const prepare = ["cd /etc/nginx", withoutClock, ...edits].join(" && ");
  await testbed.start(name, {
    ...{ image, core, settings, switches },
    command: ["-c", `${prepare} && exec ${start.replace("CONFIG=", "env CONFIG=")}`],
  });
  const url = originOf(name) + request.path;
  const status = request.status ?? "200";
  const curl = ["--http1.1", ...request.curl];
  await testbed.ready(name, ...curl, url);
  const asked = ["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}\n", ...curl];
  if (request.unanswered) await occupy(testbed, asked, originOf(name) + request.unanswered, url, status);
  const send = async (times: number) => {
    const codes = await testbed.exec("sink", ...asked, `${url}#[1-${times}]`);
    if (codes.split("\n").some((code) => code !== status))
      throw new Error(`${name} did not answer each request with ${status}`);
    const dump = "callgrind_control -d >/dev/null && sed -n 's/^totals: //p' $(ls -t /tmp/callgrind.* | head -1)";
    return Number(await testbed.exec(name, "sh", "-c", dump));
  };
  const [few, many] = request.loads;
  await send(few);
  const small = await send(few);
  const cost = Math.round(((await send(many)) - small) / (many - few));
  await testbed.remove(name);
  return cost;
}

/** Prints the table of one request. */
async function table(testbed: Testbed, request: Counted): Promise<void> {
  say(`\n| ${request.name} | Instructions |\n|---|--:|`);
  if (request.bare) say(`| bare Nginx | ${await count(testbed, "bare", request)} |`);
  const whole = await count(testbed, "proxy", request);
  say(`| proxy | ${whole} |`);
  for (const { name, remove, alsoWithout } of request.parts) {
    const before = alsoWithout ? await count(testbed, "proxy", request, [alsoWithout]) : whole;
    const edits = alsoWithout ? [alsoWithout, remove] : [remove];
    say(`| of these: ${name} | ${before - (await count(testbed, "proxy", request, edits))} |`);
  }
}

const testbed = new Testbed();
mkdirSync(output, { recursive: true });
writeApp(`${output}/app`);
try {
  await docker("build", "-t", images.proxy, `${root}/proxy`);
  await docker("build", "-t", "culvert-bench-instructions", `${bench}/instructions`);
  await testbed.open(["proxy", "bare"]);
  const command = ["-c", "/bench/configs/sink.conf", "-g", "daemon off;"];
  const names = [ingestHost, "web", "tunnel-route"];
  const switches = ["--entrypoint=nginx", `--volume=${output}/app:/app:ro`];
  await testbed.start("sink", { image: images.proxy, core: "1", names, switches, command });
  const wanted = (process.env.ONLY ?? "").split(" ").filter(Boolean);
  for (const request of requests) {
    if (wanted.length === 0 || wanted.includes(request.name.toLowerCase().replace(/.* /, "")))
      await table(testbed, request);
  }
} finally {
  await testbed.close();
}
