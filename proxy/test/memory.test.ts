import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { hardened, memoryLimit, root } from "../../deploy/test/support/docker.ts";
import { render } from "./proxy.ts";

const file = (path: string) => readFileSync(join(root, path), "utf8");

/** Bytes of "128m", "64k" or "2g", as Nginx and Docker write them, or of "2Gi". */
function bytes(size = ""): number {
  const [, digits, unit = ""] = /^(\d+)([kmg]?)i?$/i.exec(size) ?? [];
  return Number(digits) * 1024 ** " kmg".indexOf(unit.toLowerCase() || " ");
}

let config: string;
beforeAll(async () => {
  config = await render();
});
const value = (pattern: RegExp, text = config) => Number(pattern.exec(text)?.[1]);

function contents(): [what: string, count: number, kB: number][] {
  const open = value(/^ *limit_conn open_requests (\d+);/m);
  const connections = Math.ceil((value(/^worker_processes (\d+);/m) * value(/worker_connections (\d+);/)) / 8) * 8;
  const rejected = value(/zone=rejected_requests burst=(\d+)/) + value(/zone=rejected_requests:\S+ rate=(\d+)r/) * 5;
  const zones = [...config.matchAll(/(?:zone=|zone |shared:)[a-z_]+[: ](\d+[km])\b/g)];
  const shared = zones.reduce((sum, [, size]) => sum + bytes(size), 0);
  const inMemory = folders.reduce((sum, [, size]) => sum + Math.round(bytes(size) / 1e3), 0);
  return [
    ["open requests (`MAX_CONCURRENT_REQUESTS`): measured", open, 245],
    ["what `web` has sent for them, in receive buffers: Linux' default", open, 131],
    ["other connections (`worker_connections`): measured", connections - open, 31],
    ["envelopes in transit (`limit_conn tunnel_open`): estimated", value(/^limit_conn tunnel_open (\d+);/m), 390],
    ["unread error pages of rejected requests: estimated", rejected, 80],
    ["folders in memory: `/tmp`, and bodies of envelopes", 1, inMemory],
    ["zones in shared memory", 1, Math.ceil(shared / 1e6) * 1e3],
    ["engines of njs (`js_context_reuse`): measured", 12 * value(/js_context_reuse (\d+);/), 240],
    ["stored files that are asked for again, each with an engine", value(/limit_conn asked_again (\d+);/), 240],
    ["Nginx itself: estimated", 5, 10_000],
  ];
}
const folders = hardened.flatMap((option) => {
  const [, folder, size] = /tmpfs=(.*?):.*size=(\w+)/.exec(option) ?? [];
  return folder && size ? [[folder, size] as const] : [];
});
const number = (value: number) => value.toLocaleString("en");

describe("the sum of what clients can fill", () => {
  test("is below 90 % of the memory limit of Compose and Kubernetes; docs/memory.md has the table", () => {
    const rows = contents().map(([what, count, kB]) => ({ what, count, kB, MB: Math.round((count * kB) / 1e3) }));
    const sum = rows.reduce((all, { MB }) => all + MB, 0);
    expect(value(/^worker_processes (\d+);/m)).toBeLessThan(5);
    // An error page that nobody reads is given up.
    expect(config).toMatch(/ limit_req_status 444;\n(\n| *#.*\n| *alias.*\n| *ssi.*\n)* *send_timeout 5s;/);
    const pod = /limits: \{.*memory: (\w+) \}/.exec(file("deploy/kubernetes/values.yaml"))?.[1];
    expect(bytes(pod)).toBe(bytes(memoryLimit));
    expect(sum * 1e6).toBeLessThan(0.9 * bytes(memoryLimit));
    const lines = [
      "| What clients can fill | At most | kB each | MB |",
      "|---|--:|--:|--:|",
      ...rows.map(({ what, count, kB, MB }) => `| ${what} | ${[count, kB, MB].map(number).join(" | ")} |`),
      `| **Sum**, of ${number(Math.round(bytes(memoryLimit) / 1e6))} MB (2 GiB) | | | **${number(sum)}** |`,
    ];
    expect(
      file("docs/memory.md")
        .split("\n")
        .filter((line) => line.startsWith("|")),
    ).toEqual(lines);
  });

  test("leaves two connections for each further open request", async () => {
    const raised = await render({ MAX_CONCURRENT_REQUESTS: "6000" });
    const of = (name: string) => value(new RegExp(`^ *${name} (\\d+);`, "m"), raised);
    expect(of("worker_processes") * of("worker_connections")).toBeGreaterThan(8192 + 2 * 3000 - 4);
    expect(of("worker_rlimit_nofile")).toBeGreaterThan(of("worker_connections"));
  });

  test("has the sizes of the folders in memory, in Compose and Kubernetes", () => {
    const pod = [...file("deploy/kubernetes/templates/proxy.yaml").matchAll(/medium: Memory, sizeLimit: (\w+)/g)];
    expect(folders.map(([folder]) => folder)).toEqual(["/tmp", "/tmp/envelopes"]);
    expect(pod.map(([, size]) => bytes(size))).toEqual(folders.map(([, size]) => bytes(size)));
    // What one client may send at a time leaves others room.
    const large = value(/^limit_conn tunnel_large (\d+);/m) * bytes("20m");
    expect(large).toBeLessThan(0.7 * bytes(folders[1]?.[1]));
  });
});
