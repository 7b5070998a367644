import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { hardened, label, memoryLimit, must, root } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";

/** Of SECURITY.md's table: the first words of a row, how many at most, kB each, MB. */
interface Row {
  what: string;
  count: number;
  each: number;
  sum: number;
}
const file = (path: string) => readFileSync(join(root, path), "utf8");
const number = (text = "") => Number(text.replaceAll(/[,*]/g, ""));
const table = file("SECURITY.md").split("## Memory of the proxy")[1]?.split("\n## ")[0] ?? "";
const rows: Row[] = [...table.matchAll(/^\| ([^*|]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(
  ([, what = "", count, each, sum]) => ({ what, count: number(count), each: number(each), sum: number(sum) }),
);
const row = (start: string) => rows.find(({ what }) => what.startsWith(start));

/** Bytes of "128m", "64k" or "2g", as Nginx and Docker write them, or of "2Gi". */
function bytes(size = ""): number {
  const [, digits, unit = ""] = /^(\d+)([kmg]?)i?$/i.exec(size) ?? [];
  return Number(digits) * 1024 ** " kmg".indexOf(unit.toLowerCase() || " ");
}

let config: string;
beforeAll(async () => {
  const settings = {
    SENTRY_DSN: "http://key@127.0.0.1:9/7",
    WEB_UPSTREAM: "127.0.0.1:9",
    // They have zones of their own.
    MAX_CONCURRENT_PAGES_PER_REPLICA: "30",
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  config = await must("run", "--rm", label, ...hardened, ...env, await build(), "render");
});
const value = (pattern: RegExp) => Number(pattern.exec(config)?.[1]);

describe("the sum of what clients can fill", () => {
  test("has the numbers of the rendered configuration", () => {
    const open = value(/^limit_conn open_requests (\d+);/m);
    const workers = value(/^worker_processes (\d+);/m);
    expect(row("open requests")?.count).toBe(open);
    expect(row("what web has sent")?.count).toBe(open);
    const connections = Math.ceil((workers * value(/worker_connections (\d+);/)) / 8) * 8;
    expect(row("connections of clients")?.count).toBe(connections - open);
    expect(row("envelopes in transit")?.count).toBe(value(/^limit_conn tunnel_open (\d+);/m));
    const rejected = value(/zone=rejected_requests burst=(\d+)/) + value(/zone=rejected_requests:\S+ rate=(\d+)r/) * 5;
    expect(row("unread error pages")?.count).toBe(rejected);
    expect(config).toMatch(/error-response\.conf:\n(#.*\n|\n|types.*\n)*send_timeout 5s;/);
    expect(config.match(/^location @error_\w+ \{\n.*\n {4}include snippets\/error-response\.conf;/gm)).toHaveLength(2);
    expect(config).toContain("    limit_req_status 444;");
    expect(workers).toBeLessThan(row("Nginx itself")?.count ?? 0);

    const zones = [...config.matchAll(/(?:zone=|zone |shared:)[a-z_]+[: ](\d+[km])\b/g)];
    const shared = zones.reduce((sum, [, size]) => sum + bytes(size), 0);
    expect(shared).toBeGreaterThan(30e6);
    expect(shared).toBeLessThan((row("zones")?.each ?? 0) * 1e3);
  });

  test("leaves two connections for each further open request", async () => {
    const env = ["SENTRY_DSN=http://key@127.0.0.1:9/7", "WEB_UPSTREAM=127.0.0.1:9", "MAX_CONCURRENT_REQUESTS=6000"];
    const raised = await must(
      ...["run", "--rm", label, ...hardened, ...env.map((one) => `--env=${one}`), await build(), "render"],
    );
    const of = (name: string) => Number(new RegExp(`^ *${name} (\\d+);`, "m").exec(raised)?.[1]);
    const connections = of("worker_connections");
    expect(of("worker_processes") * connections).toBeGreaterThan(8192 + 2 * 3000 - 4);
    expect(of("worker_rlimit_nofile")).toBeGreaterThan(connections);
  });

  test("has the sizes of the folders in memory, in Compose and Kubernetes", () => {
    const compose = hardened.flatMap((option) => /tmpfs=(.*?):.*size=(\w+)/.exec(option)?.slice(1) ?? []);
    const pod = [...file("deploy/kubernetes/base/proxy/deployment.yaml").matchAll(/medium: Memory, sizeLimit: (\w+)/g)];
    const each = (what: string) => Math.floor(((row(what)?.each ?? 0) * 1e3) / 1024 ** 2);
    expect(compose).toEqual(["/tmp", "16m", "/tmp/envelopes", `${each("bodies of envelopes")}m`]);
    expect(pod.map(([, size]) => size)).toEqual(["16Mi", `${each("bodies of envelopes")}Mi`]);
    // What one client may send at a time leaves others room.
    const large = value(/^limit_conn tunnel_large (\d+);/m) * bytes("20m");
    expect(large).toBeLessThan(0.7 * bytes(`${each("bodies of envelopes")}m`));
  });

  test("is right, and below 90 % of the memory limit of Compose and Kubernetes", () => {
    expect(rows).toHaveLength(8);
    for (const { what, count, each, sum } of rows) expect(Math.round((count * each) / 1e3), what).toBe(sum);
    const sum = rows.reduce((all, one) => all + one.sum, 0);
    expect(number(/\*\*Sum\*\* \| \| \| (\S+) \|/.exec(table)?.[1])).toBe(sum);
    const pod = /limits: \{.*memory: (\w+) \}/.exec(file("deploy/kubernetes/base/proxy/deployment.yaml"))?.[1];
    expect(bytes(pod)).toBe(bytes(memoryLimit));
    expect(sum * 1e6).toBeLessThan(0.9 * bytes(memoryLimit));
  });
});
