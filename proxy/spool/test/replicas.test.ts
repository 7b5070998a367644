import { afterAll, expect, test } from "vitest";
import { metric } from "./support/envelopes.ts";
import { runLoad } from "./support/load.ts";
import { startStack, waitUntil } from "./support/stack.ts";

/** Envelopes per second: few, because a busy machine must not make the replica that is left hang, too. */
const rate = 20;

const stack = await startStack({}, { proxy: [], replica: true });
afterAll(stack.stop);

type Service = "spool" | "spool2";
type Step = (service: Service) => Promise<unknown>;
function on(command: string, ...rest: string[]): Step {
  return (service) => stack.on(service, command, ...rest);
}
const faults: [fault: string, begin: Step, end: Step][] = [
  ["killed", on("kill", "-s", "KILL"), on("start")],
  ["shut down", on("stop"), on("start")],
  ["stopped", on("kill", "-s", "STOP"), on("kill", "-s", "CONT")],
  [
    "cut off",
    (service) => stack.on(service, "network", "disconnect", stack.id),
    (service) => stack.on(service, "network", "connect", `--alias=${service}`, "--alias=spools", stack.id),
  ],
  [
    "out of space",
    (service) => stack.inside("dd if=/dev/zero of=/var/lib/spool/other bs=1M 2>/dev/null || true", service),
    (service) => stack.inside("rm /var/lib/spool/other", service),
  ],
];

/** More envelopes than were under way when the replica failed: the proxy may have to resolve a new address first. */
async function waitUntilUsed(url = ""): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  await waitUntil(async () => {
    const now = await metric({ url }, "accepted_total");
    before = Math.min(before, now);
    return now > before + 2 * rate;
  });
}

test("one of two replicas fails at a time, in an outage: each envelope is accepted at once, and arrives", async () => {
  const faultsInTurn = async (more: (envelopes: number) => Promise<void>, retries: object) => {
    await stack.ingest({ gone: true });
    for (const [at, [fault, begin, end]] of faults.entries()) {
      const service = at % 2 === 0 ? "spool" : "spool2";
      await begin(service);
      await more(3 * rate);
      await end(service);
      await waitUntilUsed(stack.urls[at % 2]);
      expect(retries, `${service} was ${fault}`).toEqual({});
    }
    await stack.ingest();
  };
  // All of one priority, because a full replica would drop a lower priority.
  const load = await runLoad(stack, faultsInTurn, { rate, items: ["event"] });
  expect(load).toMatchObject({ lost: 0, failedPages: [] });
});

test("the replicas that are ready share SPOOL_RATE", async () => {
  const count = (replicas: number, urls = stack.urls) =>
    Promise.all(urls.map((url) => waitUntil(async () => (await metric({ url }, "replicas")) === replicas)));
  await stack.on("spool2", "start");
  await count(2);
  await stack.on("spool2", "kill");
  await count(1, [stack.url]);
});
