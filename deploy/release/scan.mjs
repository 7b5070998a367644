// Asks OSV (https://google.github.io/osv.dev/api/) which packages of the SBOMs in a folder have known vulnerabilities. Usage: node scan.mjs
// FOLDER. Exit status: 0 nothing critical, 1 something critical, 3 not or not completely scanned.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { baseScore } from "./cvss.mjs";

const OSV = process.env.OSV_URL ?? "https://api.osv.dev";
const CRITICAL_SCORE = 9;
const BATCH = 500; // the API accepts 1,000
const TIMEOUT_MS = 30_000;

async function ask(path, body) {
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await fetch(`${OSV}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return response.json();
}

const folder = process.argv[2];
const files = readdirSync(folder).filter((name) => name.endsWith(".cdx.json"));
const purls = new Set(files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).components.map(({ purl }) => purl)));
const packages = [...purls].filter(Boolean).sort();
if (packages.length === 0) {
  console.error(`not scanned: ${folder} has no SBOM with packages: run make release first`);
  process.exit(3);
}

/**
 * OSV's query for a package; undefined if OSV would answer nothing whatever its vulnerabilities, as for Debian sid. It knows Debian's packages
 * by their source, Node and Nginx by Bitnami's database.
 */
function queryFor(purl) {
  const { pathname, searchParams } = new URL(purl);
  if (pathname.startsWith("npm/")) return { package: { purl } };
  const [, name, version] = decodeURIComponent(pathname).match(/([^/]+)@(.+)$/) ?? [];
  if (pathname.startsWith("generic/")) return { package: { name, ecosystem: "Bitnami" }, version };
  const [, release] = searchParams.get("distro")?.match(/^debian-(\d+)$/) ?? [];
  if (release) return { package: { name: searchParams.get("upstream"), ecosystem: `Debian:${release}` }, version };
}

/** Ids of vulnerabilities, each with the packages that have it. */
async function findings(scanned) {
  const found = new Map();
  for (let start = 0; start < scanned.length; start += BATCH) {
    const batch = scanned.slice(start, start + BATCH);
    const { results } = await ask("/v1/querybatch", { queries: batch.map(queryFor) });
    results.forEach(({ vulns = [] }, index) => {
      for (const { id } of vulns) found.set(id, [...(found.get(id) ?? []), batch[index]]);
    });
  }
  return found;
}

/** Whether a vulnerability is critical, by its database or its score of CVSS 3; undefined if it has neither. */
function isCritical({ database_specific: { severity: level } = {}, severity = [] }) {
  const { score } = severity.find(({ type }) => type === "CVSS_V3") ?? {};
  if (level || score) return level === "CRITICAL" || (score !== undefined && baseScore(score) >= CRITICAL_SCORE);
}

try {
  let critical = 0;
  let unrated = 0;
  const unread = [];
  const scanned = packages.filter(queryFor);
  const found = await findings(scanned);
  for (const [id, affected] of found) {
    const vulnerability = await ask(`/v1/vulns/${encodeURIComponent(id)}`);
    const worst = isCritical(vulnerability);
    if (worst === undefined) unrated += 1;
    if (worst === undefined && vulnerability.severity?.length) unread.push(id);
    if (!worst) continue;
    critical += 1;
    console.log(`CRITICAL ${id} ${affected.join(" ")} ${vulnerability.summary ?? ""}`);
  }
  console.log(`${scanned.length} packages scanned; ${found.size} vulnerabilities: ${critical} critical, ${unrated} without a severity`);
  const missed = packages.length - scanned.length;
  if (missed) console.error(`not scanned: ${missed} packages that the database does not have, such as Debian sid's`);
  if (unread.length) console.error(`not scanned: whether these are critical, because they have no score of CVSS 3: ${unread.join(" ")}`);
  process.exitCode = critical ? 1 : missed || unread.length ? 3 : 0;
} catch (error) {
  console.error(`not scanned: ${OSV} did not answer (${error.cause?.code ?? error.message})`);
  process.exitCode = 3;
}
