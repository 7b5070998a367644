// Adds up what run.sh left in a folder and prints the closing line; ends with status 1 when anything failed or nothing ran.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const total = { passed: 0, failed: 0, skipped: 0 };

function add(passed, failed, skipped) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

for (const line of readFileSync(join(folder, "verdicts"), "utf8").trim().split("\n")) total[line.split(" ")[0]] += 1;

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const report = JSON.parse(readFileSync(join(folder, file), "utf8"));
  // Vitest's JSON reporter, else Playwright's.
  if ("numTotalTests" in report) add(report.numPassedTests, report.numFailedTests, report.numPendingTests);
  else add(report.stats.expected + report.stats.flaky, report.stats.unexpected, report.stats.skipped);
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".ended-badly"))) {
  const report = join(folder, file.replace(".ended-badly", ""));
  if (total.failed === 0 || !existsSync(report)) {
    console.error(`${readFileSync(join(folder, file), "utf8").trim()} ended badly without naming a test`);
    add(0, 1, 0);
  }
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
