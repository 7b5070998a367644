// Runs in a container of the stack's own image: deploy/host/doctor.sh. Facts about the stack come by standard input; with BASE_URL,
// none are needed.
import { text } from "node:stream/consumers";
import { type Facts, parseFacts } from "./facts.ts";
import { exitStatus, format } from "./output.ts";
import { checkOutside, outsideTarget } from "./outside.ts";
import type { Result } from "./result.ts";
import { secrets } from "./secrets.ts";
import { checkStack } from "./stack.ts";

const { BASE_URL = "", PAGE = "", SENTRY_DSN, TUNNEL_PATH, INGEST_CA_FILE } = process.env;
const json = process.argv.includes("--json");

let results: Result[];
let facts: Facts | undefined;
try {
  if (BASE_URL)
    results = await checkOutside(outsideTarget(BASE_URL, TUNNEL_PATH || "/monitoring"), SENTRY_DSN || undefined, PAGE);
  else {
    facts = parseFacts(await text(process.stdin));
    results = await checkStack(facts, PAGE, INGEST_CA_FILE ?? "");
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
console.log(format(results, json, secrets(facts, process.env)));
process.exitCode = exitStatus(results);
