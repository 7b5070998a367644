// Adds up the results that run.sh wrote to a folder and prints the last line; exits with 1 if a test failed or none ran.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const folder = process.argv[2];
/** The run fails if more tests than these need another attempt. One or two are races; many are a product that works every other time. */
const maxFlaky = 10;
const read = (file) => readFileSync(join(folder, file), "utf8").trim();

/** Checks and tests. `outcome` is passed, failed, skipped or flaky: passed on a later attempt, with the first one's message. */
const results = read("checks")
  .split("\n")
  .map((line) => ({ outcome: line.split(" ")[0], where: line.replace(/^\S+ /, ""), message: "" }));

const fromVitest = ({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) => {
    const file = relative(process.cwd(), name);
    return assertionResults.map(({ status, ancestorTitles, title, duration = 0, failureMessages: [message = ""] }) => {
      // A group's name says what skipped tests need.
      if (!["passed", "failed"].includes(status))
        return { outcome: "skipped", where: `${file}: ${ancestorTitles[0] || title}` };
      return {
        outcome: status === "passed" && message ? "flaky" : status,
        where: `${file}: ${title}`,
        message,
        duration,
      };
    });
  });

const outcomes = { expected: "passed", unexpected: "failed" };
const fromPlaywright = ({ suites = [], specs = [] }) => [
  ...suites.flatMap(fromPlaywright),
  ...specs.flatMap(({ file, title, tests }) =>
    tests.map(({ status, results: attempts }) => {
      const [first] = attempts;
      const message = first?.error?.message ?? first?.status ?? "";
      const duration = attempts.reduce((sum, one) => sum + one.duration, 0);
      return { outcome: outcomes[status] ?? status, where: `web/e2e/${file}: ${title}`, message, duration };
    }),
  ),
];

/** The names of the reports with a failed test. */
const withFailures = new Set();
const files = readdirSync(folder);
for (const file of files.filter((name) => name.endsWith(".json"))) {
  const report = JSON.parse(read(file));
  const found = "numTotalTests" in report ? fromVitest(report) : fromPlaywright(report);
  results.push(...found);
  if (found.some(({ outcome }) => outcome === "failed")) withFailures.add(file);
}
const fail = (where) => results.push({ outcome: "failed", where, message: "" });
for (const file of files) {
  if (file.endsWith(".unfinished")) fail(`the job did not reach its end: ${read(file)}`);
  if (file.endsWith(".failed-run") && !withFailures.has(file.replace(".failed-run", "")))
    fail(`${read(file)} failed without a failed test`);
}

const those = (outcome) => results.filter((result) => result.outcome === outcome);
const flaky = those("flaky");
if (flaky.length > maxFlaky) fail(`${flaky.length} tests needed another attempt; ${maxFlaky} may`);
const failed = those("failed");
// Failures last, where the end of a long log still shows them.
for (const { outcome, where, message } of [...flaky, ...failed])
  console.log(`${outcome}: ${where}\n${message.split("\n").slice(0, 12).join("\n")}`);
const skipped = those("skipped");
for (const where of new Set(skipped.map((one) => one.where)))
  console.log(`skipped ${skipped.filter((one) => one.where === where).length}: ${where}`);
const slowest = results.filter(({ duration }) => duration > 10_000).sort((a, b) => b.duration - a.duration);
for (const { where, duration } of slowest.slice(0, 10)) console.log(`${Math.round(duration / 1000)} s: ${where}`);
const passed = those("passed").length + flaky.length;
console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length > 0 || passed === 0 ? 1 : 0);
