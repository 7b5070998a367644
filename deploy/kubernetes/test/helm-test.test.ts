import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { expire, makePair } from "../../test/support/certificate.ts";
import { rendering } from "./lib/chart.ts";
import { built, hasImages, useNode } from "./lib/kubelet.ts";
import { temporaryFolder } from "./lib/objects.ts";

/** The site, with a fault: what it answers by method and path. */
const site = `
const [scheme, port, pair, fault] = process.argv.slice(1);
const answer = ({ method, url, headers }, response) => {
  const unknown = url.includes("no-such-page");
  const foreign = url.includes("?o=1&p=1");
  const status = method === "POST" ? (foreign ? 403 : 200) : unknown ? 404 : 200;
  const robots = unknown ? { "X-Robots-Tag": "noindex" } : {};
  const wrong = JSON.parse(fault)[method === "POST" ? (foreign ? "foreign" : "envelope") : unknown ? "unknown" : "page"];
  const more = wrong === 308 ? { Location: "https://" + headers.host + url } : wrong === "indexed" ? {} : robots;
  response.writeHead(Number(wrong) || status, more).end();
};
const queued = JSON.parse(fault).queued ? { "X-Envelope-Outcome": "queued" } : {};
require("http").createServer((_, response) => response.writeHead(200, queued).end()).listen(8083);
const read = (name) => require("fs").readFileSync("/pair/" + pair + name);
if (scheme === "http") require("http").createServer(answer).listen(port);
else if (pair) {
  const site = require("https").createServer({ key: read(".key"), cert: read(".crt") }, answer);
  // The line of the PROXY protocol comes before TLS.
  const front = (socket) => socket.once("readable", () => {
    const first = socket.read() ?? Buffer.of();
    const end = first.indexOf("\\r\\n") + 2;
    if (!first.subarray(0, end).toString().startsWith("PROXY ")) return socket.destroy();
    socket.unshift(first.subarray(end));
    site.emit("connection", socket);
  });
  (scheme === "PROXY" ? require("net").createServer(front) : site).listen(port);
}
else require("net").createServer().listen(port);
`;

describe.skipIf(!hasImages("proxy", "spool"))("helm test", () => {
  const folder = temporaryFolder();
  const sentry = { dsn: "https://key@sentry.example.com/2" };
  const node = useNode("helm-test", { sentry });
  beforeAll(() => {
    chmodSync(folder, 0o755);
    for (const name of ["good", "expired", "other", "private"])
      makePair(join(folder, name), [name === "other" ? "other.example.com" : "app.example.com"]);
    expire(join(folder, "expired"));
    const trusted = ["good", "expired", "other"].map((name) => readFileSync(join(folder, `${name}.crt`)));
    writeFileSync(join(folder, "trusted.crt"), Buffer.concat(trusted));
  });

  const fine = [
    ["page", "✓ status 200"],
    ["unknown page", "✓ status 404, not indexed"],
    ["envelope", "✓ status 200"],
    ["foreign envelope", "✓ status 403"],
  ];
  /** What is tested, the rendering, the pair of its server, its fault, the exit status, and the lines that differ. */
  const cases = `
a good site | production | good | {} | 0
a site behind a front | ingress | - | {} | 0
a site behind a load balancer with the PROXY protocol | PROXY protocol | good | {} | 0
an app with an answer for every path | production | good | {"unknown":200} | 0 | unknown page=- status 200: the app has an answer for every path
a page that fails | production | good | {"page":503} | 1 | page=✗ status 503: kubectl logs -l app.kubernetes.io/name=web
a 404 that is indexed | production | good | {"unknown":"indexed"} | 1 | unknown page=✗ status 404 without X-Robots-Tag: noindex
an ingest that is down | production | good | {"queued":true} | 0 | ingest=! does not accept envelopes, which are queued: make verify-cluster says why
envelopes that are refused | production | good | {"envelope":403} | 1 | envelope=✗ status 403, not 200
an open relay | production | good | {"foreign":200} | 1 | foreign envelope=✗ status 200, not 403
an expired certificate | production | expired | {} | 1 | certificate=✗ has expired: renew it in the Secret that the proxy mounts
a certificate for another name | production | other | {} | 1 | certificate=✗ is not for app.example.com
a certificate of a private CA | production | private | {} | 0 | certificate=! from a CA that public clients do not know
a front that is not trusted | ingress | - | {"page":308} | 1 | page=✗ redirected to HTTPS: TRUSTED_PROXIES must have the cluster's pod range
no pod | production | - | {} | 1 | page=✗ no answer from culvert-proxy: curl's exit status 7 | unknown page=- not checked: status 000 | envelope=✗ status 000, not 200 | foreign envelope=✗ status 000, not 403
`;
  const rows = cases.trim().split("\n");
  test.each(rows.map((row) => row.split(" | ")))("%s", (_, name = "", own, fault = "", status, ...changes) => {
    const change = changes.map((one) => one.split(/=(?=\W)/));
    const all = new Map([...change.filter(([key]) => key === "certificate"), ...fine, ...change] as [string, string][]);
    const lines = [...all].map(([key, text]) => `${text[0]} ${key.padEnd(16)} ${text.slice(2)}`);
    const pair = own === "-" ? "" : (own ?? "");
    const scheme = { ingress: "http", "PROXY protocol": "PROXY" }[name] ?? "https";
    // Without a pair, a pod that does not listen on the port of the Service.
    const port = scheme === "http" ? "80" : pair ? "443" : "44";
    const entrypoint = ["node", "-e", site, scheme, port, pair, fault];
    const test = ["CMD", "bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`];
    const server = { image: built("spool"), user: "0:0", entrypoint, volumes: [`${folder}:/pair:ro`] };
    node.services["culvert-proxy"] = { ...server, healthcheck: { test, start_interval: "200ms", start_period: "1h" } };
    const networks = { default: { aliases: ["culvert-server-tunnel.culvert.svc.cluster.local"] } };
    Object.assign(node.services["culvert-proxy"], { networks });
    node.run(["up", "--detach", "--wait", "--timeout=0", "culvert-proxy"]);
    const pod = node.addPod(rendering(name), "test");
    pod.volumes.push(...server.volumes);
    pod.environment.SSL_CERT_FILE = "/pair/trusted.crt";
    const { status: exit, stdout } = node.compose(["run", "--rm", "--no-TTY", "test"]);
    expect({ exit, lines: stdout.trim().split("\n") }).toEqual({ exit: Number(status), lines });
  });
});
