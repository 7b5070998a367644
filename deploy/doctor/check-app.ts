// Takes an app's image through the contract of docs/your-app.md: deploy/doctor/check-app.sh, whose findings come by standard input.
import { text } from "node:stream/consumers";
import { build, releases } from "./app/build.ts";
import { securityHeaders } from "./app/csp.ts";
import { browserEvents, serverEvents } from "./app/events.ts";
import { type AppFacts, parseAppFacts } from "./app/facts.ts";
import { bodies, files, health, port, stop, user, webSocket } from "./app/run.ts";
import { print, type Result } from "./result.ts";

/** Takes what is known about an app and returns the contract, row by row. */
export function contract(facts: AppFacts): Result[] {
  return [
    health(facts),
    port(facts),
    user(facts),
    ...files(facts),
    stop(facts),
    ...build(facts),
    ...releases(facts),
    ...securityHeaders(facts),
    ...bodies(facts),
    ...webSocket(facts),
    ...browserEvents(facts),
    serverEvents(facts),
  ];
}

if (import.meta.main) {
  print(contract(parseAppFacts(await text(process.stdin))));
}
