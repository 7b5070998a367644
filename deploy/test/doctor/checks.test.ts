import { readdirSync, readFileSync } from "node:fs";
import type { PeerCertificate } from "node:tls";
import { expect, test, vi } from "vitest";
import { classify, renewal } from "../../checks/certificate.ts";
import { clients } from "../../checks/host/clients.ts";
import { disk, down, health } from "../../checks/host/containers.ts";
import { envelopes, spool } from "../../checks/host/delivery.ts";
import { checkStack } from "../../checks/host/doctor.ts";
import type { Container, Facts } from "../../checks/host/facts.ts";
import { applied } from "../../checks/host/settings.ts";
import { TRACE_PREFIX, unreachable } from "../../checks/ingest.ts";
import { explain, failed, type Result, report } from "../../checks/result.ts";

const now = Date.parse("2026-08-01T12:00:00Z");
const State = { Status: "running", ExitCode: 0, OOMKilled: false, StartedAt: "2026-08-01T11:59:00Z" };
const web: Container = {
  Id: "1",
  Name: "culvert-web-1",
  RestartCount: 0,
  service: "web",
  State: { ...State, Health: { Status: "healthy" } },
  HostConfig: { RestartPolicy: { Name: "unless-stopped" } },
  NetworkSettings: { Networks: { culvert_egress: { Gateway: "172.18.0.1" } } },
  environment: { REGION: "eu" },
  why: "",
  code: "",
};
const facts = (fault: Partial<Container> = {}, more: Partial<Facts> = {}): Facts => ({
  configured: { web: { environment: { REGION: "eu", TUNNEL_PATH: null } } },
  containers: [{ ...web, ...fault }],
  log: [],
  unreadable: [],
  names: { saved: 1, unread: [], spaced: [] },
  ...more,
});
const state = (change: Partial<Container["State"]>) => ({ State: { ...State, ...change } });
const ended = (change: Partial<Container["State"]>, why = "") =>
  down(facts({ ...state({ Status: "exited", ...change }), why }), now);
const checked = (Status: string, why: string) => health([{ ...web, ...state({ Health: { Status } }), why }]);
const queue = (...lines: string[]) => spool(lines.map((line) => `culvert_spool_${line}`).join("\n"));
const rejected = (count: number) =>
  envelopes([...Array(90).fill({ outcome: "accepted" }), ...Array(count).fill({ outcome: "rejected", reason: "403" })]);
const from = (client: string, count: number, trace_id = "") => Array(count).fill({ client, trace_id });
const behind = (log: Facts["log"], settings = {}) =>
  clients(facts({}, { log }), { SERVER_NAME: "app.example.com", ...settings });
const trusted = (TRUSTED_PROXIES: string) => behind([], { TRUSTED_PROXIES });
const peer = (valid_from: string, valid_to: string, CN = "R11") =>
  ({ valid_from, valid_to, issuer: { CN }, subject: {}, subjectaltname: "DNS:app.example.com" }) as PeerCertificate;
const fresh = peer("2026-07-01", "2026-09-29");
const old = peer("2026-05-01", "2026-07-30");
const development = peer("2026-07-01", "2028-07-01", "Culvert development CA");
const served = (certificate: PeerCertificate, error?: string, acme?: string, ...more: string[]) =>
  classify(certificate, error, ["app.example.com", ...more], { acme, now });
const withoutChain = { ...fresh, infoAccess: {} } as PeerCertificate;
const unreadable = renewal("culvert_certificate_rejected 1", "", ["TLS_KEY_FILE"]);
const LEAF = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
/** An app whose health check fails, and a proxy that compose has therefore not started. */
const unhealthy = { ...web, ...state({ Health: { Status: "unhealthy" } }), why: "GET /healthz: status 500" };
const waiting = {
  ...web,
  Name: "culvert-proxy-1",
  service: "proxy",
  ...state({ Status: "created" }),
  code: "not-started",
};
const waits = explain(down(facts({}, { containers: [waiting, unhealthy] }), now));
const HostConfig = { ...web.HostConfig, PortBindings: { "8080/tcp": [{ HostPort: "80" }] } };
const anotherPort = { configured: { web: { ports: [{ published: "80" }, { published: "81" }] } } };
const balanced = [...from("10.0.0.4", 30), ...from("203.0.113.9", 5, `${TRACE_PREFIX}1`), ...from("172.18.0.7", 9)];
const hasEnded = { ...state({ Status: "exited", ExitCode: 1 }), why: "SENTRY_DSN is not a DSN", code: "log" };
const spaced = facts(hasEnded, { names: { saved: 1, unread: [], spaced: ["SENTRY_DSN"] } });

test("nothing is wrong with what is right", () => {
  const finished = { ...state({ Status: "exited" }), HostConfig: { RestartPolicy: { Name: "no" } } };
  const restarted = { RestartCount: 3, ...state({ StartedAt: "2026-08-01T02:00:00Z" }) };
  // Neither this program's requests nor those of the stack's containers are clients. 127.0.0.1: the proxy itself.
  const mixed = [...from("10.0.0.4", 30), ...from("203.0.113.9", 1)];
  const results = [
    ...[facts(finished), facts(restarted)].map((stack) => down(stack, now)),
    checked("starting", "GET /: connect ECONNREFUSED"),
    queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 4"),
    queue("disk_bytes 4"),
    queue("disk_free_bytes 5"),
    rejected(2),
    behind(mixed),
    behind(from("127.0.0.1", 30)),
    trusted("10.0.0.0/8, 192.0.2.7 fc00::/7"),
    disk({ bavail: 9e5, blocks: 1e6, bsize: 4096 }),
    served(fresh),
    renewal("culvert_certificate_rejected 0"),
    renewal("culvert_certificate_renewal_failures 0", "fine"),
    // Behind a load balancer, or for this machine alone.
    classify(development, "X", ["app.example.com"], { isInner: true }),
    classify(development, "X", ["localhost"]),
    // An internal CA's, by ACME.
    served(fresh, "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the CA's log"),
  ];
  expect(results.flat().filter(({ state }) => state === "failed")).toEqual([]);
});

// A crash loop, a name in .env that nothing reads, and a setting that was changed since the start: stack.test.ts. A
// development certificate: front.test.ts.
test.each<[says: RegExp, Result[], state?: Result["state"]]>([
  [/other values than .env has: port 81 \(web\)/, applied(facts({ HostConfig }, anotherPort))],
  [/has no container/, down(facts({}, { containers: [] }))],
  [/is paused docker unpause culvert-web-1/, ended({ Status: "paused" })],
  [/is exited make up/, ended({ ExitCode: 143 })],
  [/ended: EACCES/, ended({ ExitCode: 1 }, "EACCES /data")],
  [/^culvert-web-1 is unhealthy: GET \/healthz: status 500 docker logs/, waits],
  [/^SENTRY_DSN begins or ends with a space/, await checkStack(spaced)],
  [/: GET \/: status 500 docker/, checked("unhealthy", "GET /: status 500")],
  [/3 envelopes .* for 122 min/, queue("queued_envelopes 3", "oldest_envelope_age_seconds 7300")],
  [/98 % full/, queue("queued_envelopes 3", "disk_bytes 98", "limit_bytes 100")],
  [/its disk is full/, queue("disk_free_bytes 0")],
  [/4 envelopes wait for an ingest/, queue("undeliverable_envelopes 4")],
  [/20 of 110 .*403/, rejected(20)],
  [/all 30 requests .* 10\.0\.0\.4/, behind(balanced)],
  [/172\.18\.0\.1, the gateway of .*IPv6/, behind(from("172.18.0.1", 30))],
  [/TRUSTED_PROXIES has 0\.0\.0\.0\/0/, trusted("10.0.0.0/8 0.0.0.0/0")],
  [/0\.4 GB free/, disk({ bavail: 1e5, blocks: 1e6, bsize: 4096 })],
  [/8 days left/, served(peer("2026-05-12", "2026-08-10")), "warning"],
  [/before .*clock/, served(peer("2026-08-02", "2026-10-01"), "CERT_NOT_YET_VALID")],
  [/has expired.*TLS_CERT/, served(old, "CERT_HAS_EXPIRED")],
  [/^www\.example\.com: .* for app/, served(fresh, "", "", "www.example.com")],
  [/fullchain/, served(withoutChain, LEAF)],
  [/from the CA 'R11'.*give clients this CA/, served(fresh, LEAF), "warning"],
  [/from the CA 'R11'/, served(fresh, "SELF_SIGNED_CERT_IN_CHAIN"), "warning"],
  [/are no pair.*copy both/, renewal("culvert_certificate_rejected 1")],
  [/cannot read TLS_KEY_FILE; the previous pair.*chmod/, unreadable],
  [/4 failed renewals.*no DNS/, renewal("culvert_certificate_renewal_failures 4", "no DNS")],
])("one line says %s", (says, results, wanted = "failed") => {
  const wrong = results.filter(({ state }) => state === "failed" || state === "warning");
  expect(wrong.map(({ state, found, fix }) => [state, `${found} ${fix}`])).toEqual([
    [wanted, expect.stringMatching(says)],
  ]);
});

const folder = new URL("../../checks/", import.meta.url);
const source = (path: string) => readFileSync(new URL(path, folder), "utf8");
test.each([
  ["host/doctor.ts", /^(host|outside)\/.*ts$|^certificate/, ["redirect"]],
  ["outside/doctor.ts", /^outside.*ts$|^certificate/, ["renewal"]],
  ["cluster/verify.ts", /^cluster.*ts$/, []],
] as const)("%s calls each check of %s, except %s", (command, files, ofOthers) => {
  const programs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => files.test(path));
  const uncalled = programs.flatMap((path) => {
    const callers = source(path) + source(command).repeat(path === command ? 0 : 1);
    // Up to its own end, what is exported returns results.
    const exported =
      /^export (?:async )?(?:function|const) (\w+)(?:(?!^\}|^\/|^export).)*?Result(?:\[\])?>? (?:\{|=>)$/gms;
    const names = [...source(path).matchAll(exported)].flatMap(([, name = ""]) => name);
    return names.filter((name) => !new RegExp(`(?<!function )\\b${name}\\(`).test(callers));
  });
  expect(uncalled).toEqual(ofOthers);
});

test("of a certificate, names, life and chain are an answer each", () => {
  const states = (results: Result[]) => results.map(({ state, found }) => `${state} ${found.split(" ", 3).join(" ")}`);
  expect(states(served(old, LEAF, undefined, "b.example.com"))).toEqual([
    "failed b.example.com: the certificate",
    "failed has expired on",
    "warning from the CA",
  ]);
});

test("what a page says does not control the terminal", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  report([failed("csp", "connect-src \x1b[31m\x07\x9b31m\u202e", "fix")]);
  expect(log.mock.calls.join()).toMatch(/^✗ csp +connect-src \uFFFD\[31m\uFFFD\uFFFD31m\uFFFD: fix$/);
  log.mockRestore();
});

test("only what ends when its cause is mended is said to follow from it", async () => {
  const cause = unreachable("o1.ingest.sentry.io", "ENOTFOUND");
  const follows = (results: Result[]) =>
    explain([cause, ...results])
      .map(({ state }) => state)
      .slice(1);
  const queued = ["queued_envelopes 3", "oldest_envelope_age_seconds 7300"];
  const log = (reason: string) => envelopes(Array(20).fill({ outcome: "failed", reason }));
  expect(follows([...queue(...queued), ...log("unreachable"), ...log("ingest_status_503")])).toEqual([
    "skipped",
    "skipped",
    "skipped",
  ]);
  const others = [...queue("disk_free_bytes 0", ...queued), ...queue("undeliverable_envelopes 4"), ...log("origin")];
  expect(follows(others)).toEqual(["failed", "failed", "failed"]);
  // Without a word of the setting, it has another cause.
  const stopped = await checkStack({ ...spaced, containers: [{ ...web, ...state({ Status: "exited" }) }] });
  expect(stopped.map(({ check, state }) => `${check} ${state}`)).toEqual(["settings failed", "web failed"]);
});
