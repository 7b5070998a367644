// Adds up the results that run.sh wrote to a folder and prints the last line; exits with 1 if a test failed or none ran.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const folder = process.argv[2];
/** The run fails if more tests than these need a second attempt. */
const maxFlaky = 10;
const total = { passed: 0, failed: 0, skipped: 0 };

const add = (passed, failed, skipped) => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
};

const checks = readFileSync(join(folder, "checks"), "utf8").trim().split("\n");
for (const line of checks) total[line.split(" ")[0]] += 1;

/** The number of skipped tests by file and group; the group's name says what they need. */
const skipped = {};
const skip = (where) => {
  skipped[where] = (skipped[where] ?? 0) + 1;
};

/** Failed tests, each with the begin of its message: printed last, where the end of a long log still shows them. */
const failures = checks.filter((line) => line.startsWith("failed ")).map((line) => [line.slice("failed ".length), ""]);

/** Tests that passed on their second attempt, each with the first attempt's failure. */
const flaky = [];

function readVitest(report) {
  for (const { name, assertionResults } of report.testResults) {
    const file = relative(process.cwd(), name);
    for (const { status, ancestorTitles, title, failureMessages } of assertionResults) {
      if (["pending", "skipped", "todo"].includes(status)) skip(`${file}: ${ancestorTitles[0] || title}`);
      if (status === "failed") failures.push([`${file}: ${title}`, failureMessages[0] ?? ""]);
      if (status === "passed" && failureMessages.length > 0) flaky.push([`${file}: ${title}`, failureMessages[0]]);
    }
  }
}

function readPlaywright({ suites = [], specs = [] }) {
  for (const suite of suites) readPlaywright(suite);
  for (const { file, title, tests } of specs) {
    if (tests.some(({ status }) => status === "skipped")) skip(`web/e2e/${file}: ${title}`);
    for (const { results } of tests.filter(({ status }) => status === "unexpected"))
      failures.push([`web/e2e/${file}: ${title}`, results[0]?.error?.message ?? ""]);
    for (const { results } of tests.filter(({ status }) => status === "flaky"))
      flaky.push([`web/e2e/${file}: ${title}`, results[0].error?.message ?? results[0].status]);
  }
}

/** The names of the reports with a failed test. */
const withFailures = new Set();

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const failedBefore = total.failed;
  const report = JSON.parse(readFileSync(join(folder, file), "utf8"));
  // From Vitest's JSON reporter, else from Playwright's.
  if ("numTotalTests" in report) {
    add(report.numPassedTests, report.numFailedTests, report.numPendingTests);
    readVitest(report);
  } else {
    readPlaywright(report);
    add(report.stats.expected + report.stats.flaky, report.stats.unexpected, report.stats.skipped);
  }
  if (total.failed > failedBefore) withFailures.add(file);
}

for (const file of readdirSync(folder)) {
  const what = () => readFileSync(join(folder, file), "utf8").trim();
  let problem;
  if (file.endsWith(".unfinished")) problem = `the job did not reach its end: ${what()}`;
  if (file.endsWith(".failed-run") && !withFailures.has(file.replace(".failed-run", "")))
    problem = `${what()} failed without a failed test`;
  if (!problem) continue;
  console.error(problem);
  total.failed += 1;
}

for (const line of checks) if (line.startsWith("skipped ")) skip(line.slice("skipped ".length));
for (const [where, failure] of flaky)
  console.log(`flaky: ${where} passed on its second attempt, after\n${failure.split("\n").slice(0, 4).join("\n")}`);
// One or two are races worth mending. Many are a product that works every other time.
if (flaky.length > maxFlaky) {
  console.error(`${flaky.length} tests needed a second attempt; ${maxFlaky} may`);
  add(0, 1, 0);
}
for (const [where, failure] of failures) console.log(`failed: ${where}\n${failure.split("\n").slice(0, 4).join("\n")}`);
for (const [where, count] of Object.entries(skipped)) console.log(`skipped ${count}: ${where}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
