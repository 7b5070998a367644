// Takes an app's image through the contract of docs/your-app.md: deploy/doctor/check-app.sh, whose findings come by standard input.
import { text } from "node:stream/consumers";
import { bodies, build, deploymentId } from "./app/build.ts";
import { browserEvents, dsns, policy, serverEvents } from "./app/events.ts";
import { type AppFacts, parseAppFacts } from "./app/facts.ts";
import { files, health, port, stop, user } from "./app/run.ts";
import { print, type Result } from "./result.ts";

/** Takes what is known about an app and returns the contract, row by row. */
export function contract(facts: AppFacts): Result[] {
  return [
    health,
    port,
    user,
    files,
    stop,
    build,
    deploymentId,
    bodies,
    browserEvents,
    dsns,
    serverEvents,
    policy,
  ].flatMap((check) => check(facts));
}

if (import.meta.main) print(contract(parseAppFacts(await text(process.stdin))));
