import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { label } from "../../test/support/docker.ts";
import { buildWithDebian } from "../../test/support/images.ts";
import { hasHelm, images, template } from "./lib/chart.ts";
import { docker, hasImages } from "./lib/docker.ts";
import { isReady, type Node, startPod, startTimeout } from "./lib/kubelet.ts";
import { podOf, type Resource } from "./lib/objects.ts";

/** Runs code in a replica with the cache handler of its image, as Next does; returns what it prints. */
const inReplica = (id: string, code: string) =>
  docker(
    ...["exec", id, "node", "--input-type=module", "-e"],
    `const { default: Cache } = await import("/app/cache-handler.mjs");
     const cache = new Cache({ serverDistDir: "/app/.next/server", dev: false, flushToDisk: false, maxMemoryCacheSize: 0 });
     const page = (body) => ({ kind: "FETCH", data: { body, headers: {}, status: 200, url: "" }, revalidate: 3600 });
     const context = { fetchCache: true, kind: "FETCH", tags: ["news"], softTags: [] };
     const read = async () => (await cache.get("front", context))?.value?.data.body ?? "nothing";
     await read();
     await new Promise((connected) => setTimeout(connected, 300));
     ${code}
     process.exit();`,
  );

describe.skipIf(!hasHelm || !hasImages("web"))(
  "two replicas of web with a shared cache, run as their manifests say",
  () => {
    let objects: Resource[];
    const sentry = { dsn: "http://culvert@ingest.elsewhere.example:9000/1" };
    const secrets = { sentry, "shared-cache": { password: "5ecret" } };
    const node: Node = { network: `culvert-cache-${process.pid}`, secrets, volumes: {}, scratch: [] };
    const [ids, replicas]: [string[], string[]] = [[], []];
    const replica = (at: number) => replicas[at] ?? "";
    const write = (at: number, body: string) =>
      inReplica(replica(at), `await cache.set("front", page("${body}"), context);`);
    const read = (at: number) => inReplica(replica(at), "console.log(await read());");
    const cli = (...command: string[]) => docker("exec", ids[0] ?? "", "valkey-cli", ...command);
    const withPassword = ["--no-auth-warning", "-a", "5ecret"];

    beforeAll(async () => {
      objects = template([images("1.0.0"), { cache: { enabled: true }, web: { previousRelease: { enabled: false } } }]);
      docker("network", "create", label, node.network);
      // From Debian, because there may be no registry.
      node.images = { [podOf(objects, "cache").containers[0].image]: await buildWithDebian() };
      for (const name of ["cache", "web", "web"]) ids.push(startPod(objects, name, node));
      replicas.push(...ids.slice(1));
    });
    afterAll(() => {
      docker("rm", "-f", "-v", ...ids);
      docker("network", "rm", node.network);
    });

    test("one replica serves what the other has rendered", { timeout: startTimeout }, async () => {
      for (const id of replicas) await expect.poll(() => isReady(objects, "web", id)).toBe(true);
      const shared = () => {
        write(0, "as of today");
        return read(1);
      };
      await expect.poll(shared).toBe("as of today");
    });

    test("what one replica has revalidated, the other renders again", () => {
      inReplica(replica(0), `await cache.revalidateTag("news");`);
      expect(read(1)).toBe("nothing");
      write(1, "as of tonight");
      expect(read(0)).toBe("as of tonight");
    });

    test("the cache rejects clients without the password, which no process list shows", () => {
      expect(cli("dbsize")).toMatch(/NOAUTH/);
      expect(cli(...withPassword, "dbsize")).toMatch(/^[1-9]/);
      expect(docker("exec", ids[0] ?? "", "cat", "/proc/1/cmdline")).not.toContain("5ecret");
    });

    test("its memory is limited, and it writes nothing to disk", () => {
      const setting = (name: string) => cli(...withPassword, "config", "get", name).split("\n")[1] ?? "";
      const limit = Number(docker("inspect", "--format={{.HostConfig.Memory}}", ids[0] ?? ""));
      expect(Number(setting("maxmemory"))).toBe(limit * 0.75);
      expect(["maxmemory-policy", "save", "appendonly"].map(setting)).toEqual(["allkeys-lru", "", "no"]);
    });

    test.each([
      ["hangs", "pause", "unpause"],
      ["is down", "kill", "start"],
    ])("while it %s, entries are missing and pages are served", async (_, command, undo) => {
      docker(command, ids[0] ?? "");
      for (const [at, id] of replicas.entries()) {
        expect(read(at)).toBe("nothing");
        await expect.poll(() => isReady(objects, "web", id)).toBe(true);
      }
      docker(undo, ids[0] ?? "");
    });
  },
);
