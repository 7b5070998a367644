// Asks OSV (https://google.github.io/osv.dev/api/) which packages of the SBOMs in a folder have known vulnerabilities. Usage: node scan.mjs
// FOLDER. Exit status: 0 nothing critical, 1 something critical, 3 not scanned, because the database did not answer.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const OSV = process.env.OSV_URL ?? "https://api.osv.dev";
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

/** Ids of vulnerabilities, each with the packages that have it. */
async function findings() {
  const found = new Map();
  for (let start = 0; start < packages.length; start += BATCH) {
    const batch = packages.slice(start, start + BATCH);
    const { results } = await ask("/v1/querybatch", { queries: batch.map((purl) => ({ package: { purl } })) });
    results.forEach(({ vulns = [] }, index) => {
      for (const { id } of vulns) found.set(id, [...(found.get(id) ?? []), batch[index]]);
    });
  }
  return found;
}

try {
  let critical = 0;
  const found = await findings();
  for (const [id, affected] of found) {
    const { database_specific: { severity } = {}, summary = "" } = await ask(`/v1/vulns/${encodeURIComponent(id)}`);
    if (severity !== "CRITICAL") continue;
    critical += 1;
    console.log(`CRITICAL ${id} ${affected.join(" ")} ${summary}`);
  }
  console.log(`${packages.length} packages scanned, ${found.size} vulnerabilities known, ${critical} critical`);
  process.exitCode = critical ? 1 : 0;
} catch (error) {
  console.error(`not scanned: ${OSV} did not answer (${error.cause?.code ?? error.message})`);
  process.exitCode = 3;
}
