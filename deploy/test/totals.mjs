// Adds up the results that run.sh wrote to a folder; exits with 1 if a test failed or none ran.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const folder = process.argv[2];
/** One or two flaky tests are races; many are a product that works every other time. */
const maxFlaky = 3;
const read = (file) => readFileSync(join(folder, file), "utf8").trim();
const named = (end) => readdirSync(folder).filter((name) => name.endsWith(end));

/** `outcome` is passed, failed, skipped or flaky: passed on a later attempt, with the first one's message. */
const result = (outcome, where, message = "", duration = 0) => ({ outcome, where, message, duration });

const fromVitest = ({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, ancestorTitles, title, failureMessages: [message], duration }) => {
      const where = (text) => `${relative(process.cwd(), name)}: ${text}`;
      // A group's name says what skipped tests need.
      if (!["passed", "failed"].includes(status)) return result("skipped", where(ancestorTitles[0] || title));
      return result(status === "passed" && message ? "flaky" : status, where(title), message, duration);
    }),
  );

const outcomes = { expected: "passed", unexpected: "failed" };
const fromPlaywright = ({ suites = [], specs = [] }) => [
  ...suites.flatMap(fromPlaywright),
  ...specs.flatMap(({ file, title, tests }) =>
    tests.map(({ status, results: attempts }) => {
      const [first] = attempts;
      const duration = attempts.reduce((sum, attempt) => sum + attempt.duration, 0);
      const message = first?.error?.message ?? first?.status;
      return result(outcomes[status] ?? status, `web/e2e/${file}: ${title}`, message, duration);
    }),
  ),
];

const reports = named(".json").map((file) => {
  const report = JSON.parse(read(file));
  return { file, found: "numTotalTests" in report ? fromVitest(report) : fromPlaywright(report) };
});
const hasFailed = ({ outcome }) => outcome === "failed";
const explained = reports.filter(({ found }) => found.some(hasFailed)).map(({ file }) => `${file}.failed-run`);
const unexplained = named(".failed-run").filter((file) => !explained.includes(file));
const checks = read("checks").split("\n");
const results = [
  ...checks.map((line) => result(line.split(" ")[0], line.replace(/^\S+ /, ""))),
  ...reports.flatMap(({ found }) => found),
  ...named(".unfinished").map((file) => result("failed", `the job did not reach its end: ${read(file)}`)),
  ...unexplained.map((file) => result("failed", `${read(file)} failed without a failed test`)),
];
const those = (outcome) => results.filter((test) => test.outcome === outcome);
const [flaky, skipped] = [those("flaky"), those("skipped")];
if (flaky.length > maxFlaky)
  results.push(result("failed", `${flaky.length} tests needed another attempt; ${maxFlaky} may`));
const failed = those("failed");
// Failures last, where the end of a long log still shows them.
for (const { outcome, where, message } of [...flaky, ...failed])
  console.log(`${outcome}: ${where}\n${message.split("\n").slice(0, 12).join("\n")}`);
for (const where of new Set(skipped.map((test) => test.where)))
  console.log(`skipped ${skipped.filter((test) => test.where === where).length}: ${where}`);
const slowest = results.filter(({ duration }) => duration > 10_000).sort((a, b) => b.duration - a.duration);
for (const { where, duration } of slowest.slice(0, 10)) console.log(`${Math.round(duration / 1000)} s: ${where}`);
const passed = those("passed").length + flaky.length;
console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length > 0 || passed === 0 ? 1 : 0);
