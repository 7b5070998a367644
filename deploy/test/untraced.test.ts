import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

/** What sends an HTTP request, in each of the kit's languages. `exchange` of the doctor is one `httpRequest`. */
const SENDS = /\bcurl -|\bwget\b|\/dev\/tcp\/|\bfetch\(|\bget\(\{|httpRequest\(|httpGet:|proxy_pass +http:\/\/web\b/;

/** The header, near the request: written there, or taken from the one file that has it. */
const UNTRACED = /sentry-trace|untraced\.conf|unsampledTrace/;
const NEAR_LINES = 22;

/** Requests that do not reach the app, or that a client made; as "file: line". */
const elsewhere = [
  // The ports of the proxy itself, of spool, local ingest, Prometheus and Grafana. The proxy's /web has the header from health.conf.
  /127\.0\.0\.1[:/](?:808[12]|8969|9090)|localhost:8081|127\.0\.0\.1:3000\/api\/health/,
  /^deploy\/(?:kubernetes|chart)\/.*(?:port: health \}|[&*]health)/,
  /^deploy\/chart\/templates\/(?:spool|ingest)\.yaml: /,
  // To the API server, Prometheus, the tunnel and the ingest.
  /^deploy\/kubernetes\/verify\/(?:api|cluster|tunnel)\.ts: /,
  /^deploy\/doctor\/metrics\.ts: /,
  /^proxy\/templates\/routes\//,
  // From the proxy's store, or by its request for it (static.conf).
  /^deploy\/host\/stack\.sh: .*Accept-Encoding/,
  /^deploy\/host\/notify\.sh: /,
  // A connection to the front itself, which forwards it only once it has a name.
  /^deploy\/front\/compose\.yml: /,
  /^deploy\/host\/summary\.sh: echo /,
];

/** The app and load tests are the traffic that Sentry is there for. */
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "docker-compose.yml", "deploy", "proxy"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter(
    (file) =>
      !/\/(?:test|bare-machine|bench|release)\/|lock\.json$|\.svg$/.test(file) && statSync(`${root}/${file}`).isFile(),
  );

test("every request of the kit's own to the app belongs to a trace that is not sampled", () => {
  const requests = files.flatMap((file) => {
    const lines = readFileSync(`${root}/${file}`, "utf8").split("\n");
    return lines.flatMap((line, at) => {
      if (!SENDS.test(line) || /^\s*(?:#|\*|\/\/)/.test(line)) return [];
      const near = lines.slice(Math.max(0, at - NEAR_LINES), at + NEAR_LINES + 1).join("\n");
      return [{ place: `${file}: ${line.trim()}`, isUntraced: UNTRACED.test(near) }];
    });
  });
  const others = (place: string) => elsewhere.some((one) => one.test(place));
  expect(requests.filter(({ place, isUntraced }) => !isUntraced && !others(place))).toEqual([]);
  expect(requests.filter(({ place, isUntraced }) => isUntraced && !others(place)).length).toBeGreaterThan(6);
  expect(elsewhere.filter((one) => !requests.some(({ place }) => one.test(place)))).toEqual([]);
});
