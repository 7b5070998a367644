/**
 * What the SDK costs the server: `npm run measure`. CPU time per request of the same image with other settings, in turns, so that
 * a busy machine spoils no comparison; medians.
 */
import { Agent, get } from "node:http";
import { answering, hardened, type Lab, openLab, webImage } from "./lab.ts";
import { expect, test } from "./visitor.ts";

const ROUNDS = 7;
const REQUESTS = 300;
const AT_ONCE = 8;

const CASES = {
  "no SDK": { SENTRY_DSN: "" },
  "errors only (rate 0)": { SENTRY_TRACES_SAMPLE_RATE: "0" },
  "rate 0.1": { SENTRY_TRACES_SAMPLE_RATE: "0.1" },
  "rate 1": { SENTRY_TRACES_SAMPLE_RATE: "1" },
};

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
  });
}

async function load(url: string, requests: number): Promise<void> {
  let left = requests;
  const worker = async () => {
    while (left-- > 0) await ask(url);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The CPU time that a container's process has used, in milliseconds. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
async function cpu(lab: Lab, name: string): Promise<number> {
  const stat = (await lab.exec(name, "cat", "/proc/1/stat")).split(") ")[1]?.split(" ") ?? [];
  const TICK_MS = 10;
  return (Number(stat[11]) + Number(stat[12])) * TICK_MS;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

test("the SDK's cost on the server, in CPU time per page", async () => {
  test.setTimeout(900_000);
  const lab = await openLab();
  try {
    await lab.record(["recorder"]);
    const targets = await Promise.all(
      Object.entries(CASES).map(async ([name, settings], at) => {
        const env = { SENTRY_DSN: "http://culvert@recorder:9000/1", ...settings };
        const args = Object.entries(env).map(([key, value]) => `--env=${key}=${value}`);
        const container = `web${at}`;
        const url = `http://127.0.0.1:${await lab.run(container, [...hardened, ...args], webImage, 3000)}/`;
        await answering(`${url}healthz`);
        return { name, container, url, spent: [] as number[] };
      }),
    );
    for (const { url } of targets) await load(url, REQUESTS * 2);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { container, url, spent } of targets) {
        const before = await cpu(lab, container);
        await load(url, REQUESTS);
        spent.push(((await cpu(lab, container)) - before) / REQUESTS);
      }
    }
    const base = median(targets[0]?.spent ?? []);
    for (const { name, spent } of targets) {
      const cost = median(spent);
      const range = `${Math.min(...spent).toFixed(2)}–${Math.max(...spent).toFixed(2)}`;
      console.log(`${name}: ${cost.toFixed(2)} ms a page (${range}), throughput ${((base / cost) * 100).toFixed(0)} %`);
    }
    expect(base).toBeGreaterThan(0);
  } finally {
    await lab.close();
  }
});
