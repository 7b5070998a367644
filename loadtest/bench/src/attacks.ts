import type { Comparison, Options } from "./main.ts";
import { compose, exec, openLoop, start } from "./stack.ts";

const ORIGIN = "https://proxy:8443";
const TIMEOUT_S = 20;

/** Many streams over HTTP/2, each followed by the next. With -w 0, nothing of a response can be sent. */
const flood = (options: string, path = "/") => `h2load -D 600 ${options} ${ORIGIN}${path}`;
const HTML = "-H 'accept: text/html'";
const PAGE = `-c 8 -m 100 ${HTML}`;
const [EIGHT, TRUSTING] = [[1, 2, 3, 4, 5, 6, 7, 8], { TRUSTED_PROXIES: "0.0.0.0/0" }];
const ABORTED = `timeout 0.1 ${flood(`-c 8 -m 10 ${HTML}`)}`;
const GZIP = "-H 'content-type: text/plain' -H 'content-encoding: gzip'";
const BOMB = `curl -sk ${GZIP} --data-binary @/files/bomb.gz ${ORIGIN}/monitoring`;
/** Connections over HTTP/1.1 that send a little every 3 s, well below the proxy's timeouts, which begin anew with each byte. */
const slow = (options: string) => `slowhttptest -i 3 -r 250 -l 600 ${options} -u ${ORIGIN}/api/x >/dev/null`;

/** What one client does, by shell; FILE stands for the path of one of web's hashed files. Commands are repeated until the end. */
const ATTACKS: [title: string, commands: string[], settings?: Record<string, string>][] = [
  [
    "slow reads of pages and files",
    [flood("-w 0 --rps 128 -c 55 -m 128", "FILE"), flood(`-w 0 --rps 8 -c 182 -m 8 ${HTML}`)],
  ],
  ["slow headers, slow bodies, decompression bombs", [slow("-H -c 1500"), slow("-B -c 1000 -s 900000"), BOMB]],
  ["8 × 100 pages at once", [flood(PAGE)]],
  ["as forms", [flood(`${PAGE} -d /files/form`)]],
  ["as prefetches", [flood(`${PAGE} -H 'sec-purpose: prefetch'`)]],
  ["without the headers of pages", [flood("-c 8 -m 100 -H 'accept: */*'")]],
  ["from eight clients", EIGHT.map((n) => flood(`-c 1 -m 100 ${HTML} -H 'x-forwarded-for: 203.0.113.${n}'`)), TRUSTING],
  ["8 × 10 pages at once, each aborted after 0.1 s", [ABORTED]],
];

/** What another client requests, each time on a new connection, and what it expects. */
const requests = {
  page: { path: "/", rate: 10 },
  file: { path: "FILE", rate: 5 },
  // An address that web has not: the answer is web's own.
  form: { path: "/api/x", rate: 2, expected: 404, body: "/files/form", headers: { "content-type": "text/plain" } },
  envelope: {
    path: "/monitoring",
    rate: 5,
    body: "/files/envelope.gz",
    headers: { "content-type": "text/plain;charset=UTF-8", "content-encoding": "gzip" },
  },
};

/** Attacks the proxy as one client, and measures what another one notices. */
export async function attacks({ attackSeconds: seconds }: Options): Promise<Comparison> {
  const rows: Comparison["rows"] = [];
  for (const [title, commands, settings] of ATTACKS) {
    await start(["sink", "visitor", "attacker", "proxy", "web", "spool"], settings);
    const file = /\/_next\/static\/[^"]+\.js/.exec(await exec("visitor", "curl", "-skf", `${ORIGIN}/`))?.[0];
    if (!file) throw new Error("web's page names no hashed file");
    await observe(file, 3);
    const before = await observe(file, seconds);
    const all = commands.map((command) => `while :; do ${command.replace("FILE", file)}; sleep 0.1; done &`).join("\n");
    await compose(["exec", "-d", "attacker", "sh", "-c", `{ ${all} } >/tmp/log 2>&1; wait`]);
    const during = await observe(file, seconds);
    const sum = (key: "failed" | "requests") => Object.values(during).reduce((total, result) => total + result[key], 0);
    const { p50 = Number.NaN, p99 = Number.NaN } = during.page ?? {};
    rows.push([title, before.page?.p50 ?? Number.NaN, p50, p99, `${sum("failed")} of ${sum("requests")}`]);
    // An attack that reached nothing is none.
    const reached = await exec("attacker", "tail", "-n", "3", "/tmp/log");
    process.stderr.write(`    ${rows.at(-1)?.join(" | ")}\n${reached}\n`);
  }
  return {
    title: "What another client notices of one client's attack",
    head: ["attack", "p50 before", "p50", "p99", "failed"],
    rows,
  };
}

/** Requests pages, a hashed file, forms of 20 KB and compressed envelopes at constant rates. */
async function observe(file: string, seconds: number): Promise<Record<string, Awaited<ReturnType<typeof openLoop>>>> {
  const seen = Object.entries(requests).map(async ([name, { path, ...plan }]) => {
    const url = ORIGIN + path.replace("FILE", file);
    return [name, await openLoop("visitor", { url, seconds, ...plan, timeoutSeconds: TIMEOUT_S })];
  });
  return Object.fromEntries(await Promise.all(seen));
}
