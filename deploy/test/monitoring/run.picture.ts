import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, test } from "vitest";
import { answer, environment, panels, query, start, stop, traffic } from "./stack.ts";

// Not a test: the run behind deploy/monitoring/dashboard.svg, whose data it writes to the file RUN.
const STEP_S = 3;

beforeAll(async () => {
  // The queue empties slowly enough to be seen, and the oldest envelopes expire before the outage is over.
  Object.assign(environment, { SPOOL_RATE: "60", SPOOL_MAX_AGE: "75s", MAX_CONCURRENT_PAGES_PER_REPLICA: "25" });
  await start(1, `${STEP_S}s`);
});
afterAll(stop);

const now = () => Date.now() / 1_000;
const faults: { name: string; start: number; end: number }[] = [];

/** Has a fault for so many seconds. */
async function fault(
  name: string,
  seconds: number,
  begin: () => Promise<unknown>,
  end = async () => {},
): Promise<void> {
  const started = now();
  await begin();
  await pause(seconds * 1_000);
  await end();
  faults.push({ name, start: started, end: now() });
}

/** Has what stands for web or for the ingest answer like this for so many seconds. */
const recorderFault = (name: string, seconds: number, service: "app" | "recorder", instead: "reset" | "hang") =>
  fault(
    name,
    seconds,
    () => answer(service, { instead }),
    async () => void (await answer(service, {})),
  );

test("a run with an outage of the ingest, a web that fails, one that hangs, and a flood", async () => {
  const from = now();
  await traffic({ pages: 6, envelopes: 12, serverEnvelopes: 3 }, 600);
  await pause(35_000);
  await traffic({ pages: 4, envelopes: 10 }, 45);
  await pause(30_000);
  await recorderFault("ingest down", 85, "recorder", "reset");
  await pause(50_000);
  await recorderFault("web fails", 12, "app", "reset");
  await pause(25_000);
  await recorderFault("web hangs", 20, "app", "hang");
  await pause(30_000);
  await fault("flood", 30, () => traffic({ envelopes: 120 }, 30, "app"));
  await pause(20_000);

  const to = now();
  const texts = panels.map(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll("$namespace", "compose").replaceAll("$__rate_interval", "15s")),
  );
  const ask = (query: string) => ({ query, start: String(from), end: String(to), step: String(STEP_S) });
  const answers = await query("query_range", ...texts.flat().map(ask));
  const results = texts.map((list) => list.map(() => answers.shift().result));
  writeFileSync(process.env.RUN ?? "run.json", JSON.stringify({ start: from, end: to, step: STEP_S, faults, results }));
});
