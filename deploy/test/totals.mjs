// Adds up the results that run.sh wrote to a folder and prints the last line; exits with 1 if a test failed or none ran.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const folder = process.argv[2];
const total = { passed: 0, failed: 0, skipped: 0 };

function add(passed, failed, skipped) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

for (const line of readFileSync(join(folder, "checks"), "utf8").trim().split("\n")) total[line.split(" ")[0]] += 1;

/** The number of skipped tests by file and group; the group's name says what they need. */
const skipped = {};
const skip = (where) => {
  skipped[where] = (skipped[where] ?? 0) + 1;
};

function skippedByVitest(report) {
  for (const { name, assertionResults } of report.testResults) {
    for (const { status, ancestorTitles, title } of assertionResults)
      if (["pending", "skipped", "todo"].includes(status))
        skip(`${relative(process.cwd(), name)}: ${ancestorTitles[0] || title}`);
  }
}

function skippedByPlaywright({ suites = [], specs = [] }) {
  for (const suite of suites) skippedByPlaywright(suite);
  for (const { file, title, tests } of specs)
    if (tests.some(({ status }) => status === "skipped")) skip(`web/e2e/${file}: ${title}`);
}

/** The names of the reports with a failed test. */
const withFailures = new Set();

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const failedBefore = total.failed;
  const report = JSON.parse(readFileSync(join(folder, file), "utf8"));
  // From Vitest's JSON reporter, else from Playwright's.
  if ("numTotalTests" in report) {
    add(report.numPassedTests, report.numFailedTests, report.numPendingTests);
    skippedByVitest(report);
  } else {
    skippedByPlaywright(report);
    add(report.stats.expected + report.stats.flaky, report.stats.unexpected, report.stats.skipped);
  }
  if (total.failed > failedBefore) withFailures.add(file);
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".unfinished"))) {
  console.error(`the job did not reach its end: ${readFileSync(join(folder, file), "utf8").trim()}`);
  add(0, 1, 0);
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".failed-run"))) {
  if (!withFailures.has(file.replace(".failed-run", ""))) {
    console.error(`${readFileSync(join(folder, file), "utf8").trim()} failed without a failed test`);
    add(0, 1, 0);
  }
}

for (const line of readFileSync(join(folder, "checks"), "utf8").split("\n"))
  if (line.startsWith("skipped ")) skip(line.slice("skipped ".length));
for (const [where, count] of Object.entries(skipped)) console.log(`skipped ${count}: ${where}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
