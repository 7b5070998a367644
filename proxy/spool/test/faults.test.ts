import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, onTestFailed, test } from "vitest";
import { root } from "../../../deploy/test/support/docker.ts";
import { envelope, isEmpty, metric, newId, outcome, sendMany } from "./support/envelopes.ts";
import { requestProxy, runLoad } from "./support/load.ts";
import { publicFolder, startStack, waitUntil } from "./support/stack.ts";

const folder = publicFolder();
// Less than in the image: a busy machine does not send 600 envelopes in 10 s.
const limits = {
  "limit_conn tunnel_open 600;": "limit_conn tunnel_open 50;",
  "read_timeout 10s;": "read_timeout 3s;",
};
const file = "templates/forward-to-ingest.conf";
let config = readFileSync(`${root}/proxy/${file}`, "utf8");
for (const [limit, lowered] of Object.entries(limits)) {
  expect(config).toContain(limit);
  config = config.replace(limit, lowered);
}
writeFileSync(join(folder, "lowered"), config);
const stack = await startStack({}, { proxy: [`--volume=${folder}/lowered:/etc/nginx/${file}:ro`] });
afterAll(stack.stop);

const heal = () => stack.ingest();
/** Also ends the requests to an ingest that hangs. */
const restart = () => stack.ingest({ gone: true }).then(heal);
type Step = () => Promise<unknown>;

test.each<[fault: string, begin: Step, end?: Step, result?: object]>([
  ["the ingest hangs", () => stack.ingest({ delay: 60_000, cut: "body" }), restart],
  ["the ingest cuts connections in the middle of bodies", () => stack.ingest({ cut: "body" }), heal, { repeated: 0 }],
  [
    "the ingest's name does not resolve",
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", stack.id),
  ],
  ["the ingest takes 2 s, until more are open than the proxy allows", () => stack.ingest({ delay: 2_000 })],
  [
    "the ingest answers 503, and the spool is restarted: 503 while it starts",
    async () => {
      await stack.ingest({ status: 503 });
      await stack.on("spool", "restart");
      await stack.ready();
    },
    heal,
    { retries: { 503: expect.any(Number) } },
  ],
])(
  "%s until the spool has got a second's envelopes: nothing is lost, no page fails",
  async (_, begin, end = heal, result = {}) => {
    const load = await runLoad(stack, async (more) => {
      await more(100);
      const before = await metric(stack, "accepted_total");
      // Also after a failure: the next test starts with a healthy ingest.
      await begin()
        .then(() => waitUntil(async () => (await metric(stack, "accepted_total")) > before + 100))
        .finally(end);
      const mark = (await stack.seen()).length;
      await waitUntil(async () => (await stack.seen(mark)).some(({ status }) => status === 200));
      await more(100);
    });
    expect(load).toMatchObject({ lost: 0, failedPages: [] });
    expect(load).toEqual({ ...load, retries: {}, ...result });
  },
);

test("restart proxy: envelopes in flight are answered before it stops, by a slow ingest, or else by the spool", async () => {
  await stack.ingest({ item: "event", delay: 1_500 }, { delay: 60_000, cut: "body" });
  const mark = (await stack.seen()).length;
  const ids = Array.from({ length: 50 }, newId);
  const post = (id: string, at: number) =>
    requestProxy(stack, "/monitoring", envelope(at % 2 === 0 ? "event" : "session", id, 1_900));
  const answers = Promise.all(ids.map(post));
  await waitUntil(async () => (await stack.seen(mark)).length >= 50);
  await stack.on("proxy", "restart");
  expect(await answers).toEqual(ids.map(() => 200));
  await restart();
  await waitUntil(() => isEmpty(stack));
  expect((await outcome(stack, ids)).lost).toBe(0);
});

test("stop spool, and start it, while it receives and delivers: nothing is lost or repeated", async () => {
  onTestFailed(async () => void (await stack.on("spool", "start")));
  await stack.ingest({ delay: 5_000 });
  const mark = (await stack.seen()).length;
  const ids = await sendMany(stack.url, 100, "session");
  await waitUntil(async () => (await stack.seen(mark)).length > 0);
  const redelivered = await metric(stack, "redelivered_total");
  const sending = sendMany(stack.url, 2_000, "session");
  await stack.on("spool", "stop");
  await stack.ingest();
  expect(await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")).toBe("0");
  await stack.on("spool", "start");
  ids.push(...(await sending));
  await stack.ready();
  await waitUntil(() => isEmpty(stack));
  expect(await outcome(stack, ids)).toEqual({ lost: 0, repeated: 0 });
  expect(await metric(stack, "redelivered_total")).toBe(redelivered);
});
