import type { PeerCertificate } from "node:tls";
import { expect, test, vi } from "vitest";
import { classify, renewal } from "../../checks/certificate.ts";
import { clients } from "../../checks/host/clients.ts";
import { disk, down, health } from "../../checks/host/containers.ts";
import { envelopes, spool } from "../../checks/host/delivery.ts";
import { checkStack, isOfIngest } from "../../checks/host/doctor.ts";
import type { Container, Facts } from "../../checks/host/facts.ts";
import { applied, settingNames } from "../../checks/host/settings.ts";
import { TRACE_PREFIX } from "../../checks/ingest.ts";
import { after, type Result, report } from "../../checks/result.ts";

const now = Date.parse("2026-08-01T12:00:00Z");
const State = { Status: "running", ExitCode: 0, OOMKilled: false, StartedAt: "2026-08-01T11:59:00Z" };
const web: Container = {
  Id: "1",
  Name: "culvert-web-1",
  Image: "sha256:aaaaaaaaaaaaaaaa",
  RestartCount: 0,
  service: "web",
  State: { ...State, Health: { Status: "healthy" } },
  HostConfig: { RestartPolicy: { Name: "unless-stopped" } },
  NetworkSettings: { Networks: { culvert_egress: { Gateway: "172.18.0.1" } } },
  environment: { REGION: "eu" },
  why: "",
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
const waiting = { ...web, Name: "culvert-proxy-1", service: "proxy", ...state({ Status: "created" }) };
const waits = down(facts({}, { containers: [waiting, unhealthy] }), now);
const HostConfig = { ...web.HostConfig, PortBindings: { "8080/tcp": [{ HostPort: "80" }] } };
const anotherPort = { configured: { web: { ports: [{ published: "80" }, { published: "81" }] } } };
const balanced = [...from("10.0.0.4", 30), ...from("203.0.113.9", 5, `${TRACE_PREFIX}1`), ...from("172.18.0.7", 9)];
const hasEnded = { ...state({ Status: "exited", ExitCode: 1 }), why: "SENTRY_DSN is not a DSN" };
const spaced = facts(hasEnded, { names: { saved: 1, unread: [], spaced: ["SENTRY_DSN"] } });
const afterSpace = await checkStack(spaced);

test("nothing is wrong with what is right", () => {
  const finished = { ...state({ Status: "exited" }), HostConfig: { RestartPolicy: { Name: "no" } } };
  const restarted = { RestartCount: 3, ...state({ StartedAt: "2026-08-01T02:00:00Z" }) };
  // Neither this program's requests nor those of the stack's containers are clients. 127.0.0.1: the proxy itself.
  const mixed = [...from("10.0.0.4", 30), ...from("203.0.113.9", 1)];
  const results = [
    settingNames({ saved: 2, unread: [], spaced: [] }),
    applied(facts()),
    ...[facts(), facts(finished), facts(restarted)].map((one) => down(one, now)),
    checked("healthy", ""),
    checked("starting", "GET /: connect ECONNREFUSED"),
    queue(),
    queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 4"),
    queue("disk_bytes 4"),
    queue("disk_free_bytes 5"),
    rejected(2),
    behind(mixed),
    behind(from("127.0.0.1", 30)),
    trusted("10.0.0.0/8, 192.0.2.7 fc00::/7"),
    disk({ bavail: 9e5, blocks: 1e6, bsize: 4096 }),
    served(fresh),
    served(fresh, undefined, "fine"),
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

// A crash loop, a name in .env that nothing reads, and a setting that was changed since the start: stack.test.ts.
test.each<[string, Result[], RegExp, state?: Result["state"]]>([
  ["a changed port", applied(facts({ HostConfig }, anotherPort)), /other values than .env has: port 81 \(web\)/],
  ["a service without a container", down(facts({}, { containers: [] })), /has no container/],
  ["a paused container", ended({ Status: "paused" }), /is paused docker unpause culvert-web-1/],
  ["one that runs again", down(facts({ RestartCount: 3, why: "no database" }), now), /3×\): no database/],
  ["a service that was stopped", ended({ ExitCode: 143 }), /is exited make up/],
  ["a container that died", ended({ ExitCode: 1 }, "EACCES /data"), /ended: EACCES/],
  ["an app for which the proxy waits", waits, /^culvert-web-1 is unhealthy: GET \/healthz: status 500 docker logs/],
  [
    "a space at the end of a value, and no crash that follows from it",
    afterSpace,
    /^SENTRY_DSN begins or ends with a space/,
  ],
  ["an unhealthy container", checked("unhealthy", "GET /: status 500"), /: GET \/: status 500 docker/],
  ["a long wait", queue("queued_envelopes 3", "oldest_envelope_age_seconds 7300"), /3 envelopes .* for 122 min/],
  ["a full spool", queue("queued_envelopes 3", "disk_bytes 98", "limit_bytes 100"), /98 % full/],
  ["a full disk of the spool", queue("disk_free_bytes 0"), /its disk is full/],
  ["an ingest of the past", queue("undeliverable_envelopes 4"), /4 envelopes wait for an ingest/],
  ["envelopes that the ingest rejects", rejected(20), /20 of 110 .*403/],
  ["a load balancer that is not named", behind(balanced), /all 30 requests .* 10\.0\.0\.4/],
  ["one on this machine", behind(from("172.18.0.1", 30)), /172\.18\.0\.1, the gateway of .*IPv6/],
  ["a trusted network that anybody is in", trusted("10.0.0.0/8 0.0.0.0/0"), /0\.0\.0\.0\/0/],
  ["a disk that is nearly full", disk({ bavail: 1e5, blocks: 1e6, bsize: 4096 }), /0\.4 GB free/],
  ["a certificate near its end", served(peer("2026-05-12", "2026-08-10")), /8 days left/, "warning"],
  ["one that is not valid yet", served(peer("2026-08-02", "2026-10-01"), "CERT_NOT_YET_VALID"), /before .*clock/],
  ["an expired one", served(old, "CERT_HAS_EXPIRED"), /has expired.*TLS_CERT/],
  ["a second name without one", served(fresh, "", "", "www.example.com"), /^www\.example\.com: .* for app/],
  ["one without its chain", served(withoutChain, LEAF), /fullchain/],
  ["one of a private CA", served(fresh, LEAF), /from the CA 'R11'.*give clients this CA/, "warning"],
  ["one of a private CA with its chain", served(fresh, "SELF_SIGNED_CERT_IN_CHAIN"), /from the CA 'R11'/, "warning"],
  ["one of development, for a public name", served(development, "X"), /set ACME=on, or TLS_CERT_FILE/],
  ["a pair on disk that is none", renewal("culvert_certificate_rejected 1"), /are no pair.*copy both/],
  ["a key that the proxy may not read", unreadable, /cannot read TLS_KEY_FILE; the previous pair.*chmod/],
  ["renewals that fail", renewal("culvert_certificate_renewal_failures 4", "no DNS"), /4 failed renewals.*no DNS/],
])("%s is named", (_, results, words, wanted = "failed") => {
  const wrong = results.filter(({ state }) => state === "failed" || state === "warning");
  expect(wrong.map(({ state, found, fix }) => [state, `${found} ${fix}`])).toEqual([
    [wanted, expect.stringMatching(words)],
  ]);
});

test("of a certificate, names, life and chain are an answer each", () => {
  const states = (results: Result[]) => results.map(({ state, found }) => `${state} ${found.split(" ", 3).join(" ")}`);
  expect(states(served(old, LEAF, undefined, "b.example.com"))).toEqual([
    "failed b.example.com: the certificate",
    "failed has expired on",
    "warning from the CA",
  ]);
  const near = served(peer("2026-05-12", "2026-08-02"), "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "the CA's log");
  expect(states(near)).toEqual(["ok is for app.example.com", "warning 0 days left,", "warning from the CA"]);
});

test("what a page says does not control the terminal", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  report([{ check: "csp", state: "failed", found: "connect-src \x1b[31m\x07\x9b31m\u202e" }]);
  expect(log.mock.calls.join()).toMatch(/^✗ csp +connect-src \uFFFD\[31m\uFFFD\uFFFD31m\uFFFD$/);
  log.mockRestore();
});

test("only what ends when its cause is mended is said to follow from it", async () => {
  const cause = { check: "ingest", state: "failed", found: "o1.ingest.sentry.io does not answer", fix: "" } as const;
  const follows = async (results: Result[]) =>
    (await after([cause], () => results, isOfIngest)).map(({ state }) => state);
  const queued = ["queued_envelopes 3", "oldest_envelope_age_seconds 7300"];
  const log = (reason: string) => envelopes(Array(20).fill({ outcome: "failed", reason }));
  expect(await follows([...queue(...queued), ...log("unreachable"), ...log("ingest_status_503")])).toEqual([
    "skipped",
    "skipped",
    "skipped",
  ]);
  const others = [...queue("disk_free_bytes 0", ...queued), ...queue("undeliverable_envelopes 4"), ...log("origin")];
  expect(await follows(others)).toEqual(["failed", "failed", "failed"]);
  // Without a word of the setting, it has another cause.
  const stopped = await checkStack({ ...spaced, containers: [{ ...web, ...state({ Status: "exited" }) }] });
  expect(stopped.map(({ check, state }) => `${check} ${state}`)).toEqual(["settings failed", "web failed"]);
});
