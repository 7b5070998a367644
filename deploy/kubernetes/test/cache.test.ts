import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { label } from "../../test/support/docker.ts";
import { buildWithDebian, downloadTimeout } from "../../test/support/images.ts";
import { docker, hasImages } from "./lib/docker.ts";
import { isReady, type Node, startPod, startTimeout } from "./lib/kubelet.ts";
import { type Resource, workloads } from "./lib/objects.ts";
import { canRender, rendering } from "./lib/render.ts";

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

describe.skipIf(!canRender || !hasImages("web"))(
  "two replicas of web with a shared cache, run as their manifests say",
  () => {
    let objects: Resource[];
    const node: Node = {
      network: `culvert-cache-${process.pid}`,
      secrets: {
        sentry: { dsn: "http://culvert@ingest.elsewhere.example:9000/1" },
        "shared-cache": { password: "5ecret" },
      },
      volumes: {},
      scratch: [],
    };
    let cache: string;
    let replicas: [string, string];
    const ids = () => [cache, ...(replicas ?? [])].filter(Boolean);

    beforeAll(async () => {
      objects = rendering("base + shared-cache");
      docker("network", "create", label, node.network);
      const image = workloads(objects).find(({ name }) => name === "cache")?.pod.containers[0]?.image ?? "";
      // From Debian, because there may be no registry.
      node.images = { [image]: await buildWithDebian() };
      cache = startPod(objects, "cache", node);
      replicas = [startPod(objects, "web", node), startPod(objects, "web", node)];
    }, downloadTimeout);
    afterAll(() => {
      docker("rm", "-f", "-v", ...ids());
      docker("network", "rm", node.network);
    });

    const write = (id: string, body: string) => inReplica(id, `await cache.set("front", page("${body}"), context);`);
    const read = (id: string) => inReplica(id, "console.log(await read());");

    /** What the second replica reads after the first has written. */
    const writeAndRead = (first: string, second: string) => {
      write(first, "as of today");
      return read(second);
    };

    test("one replica serves what the other has rendered", { timeout: startTimeout }, async () => {
      const [first, second] = replicas;
      for (const replica of replicas) await expect.poll(() => isReady(objects, "web", replica)).toBe(true);
      await expect.poll(() => writeAndRead(first, second)).toBe("as of today");
    });

    test("what one replica has revalidated, the other renders again", () => {
      const [first, second] = replicas;
      inReplica(first, `await cache.revalidateTag("news");`);
      expect(read(second)).toBe("nothing");
      write(second, "as of tonight");
      expect(read(first)).toBe("as of tonight");
    });

    test("the cache rejects clients without the password", () => {
      const query = (...auth: string[]) => docker("exec", cache, "valkey-cli", ...auth, "dbsize");
      expect(query()).toMatch(/NOAUTH/);
      expect(query("--no-auth-warning", "-a", "5ecret")).toMatch(/^[1-9]/);
      expect(docker("exec", cache, "cat", "/proc/1/cmdline")).not.toContain("5ecret");
    });

    test("its memory is limited, and it writes nothing to disk", () => {
      const setting = (name: string) =>
        docker("exec", cache, "valkey-cli", "--no-auth-warning", "-a", "5ecret", "config", "get", name).split(
          "\n",
        )[1] ?? "";
      const limit = Number(docker("inspect", "--format={{.HostConfig.Memory}}", cache));
      expect(Number(setting("maxmemory"))).toBe(limit * 0.75);
      expect(["maxmemory-policy", "save", "appendonly"].map(setting)).toEqual(["allkeys-lru", "", "no"]);
    });

    test.each([
      ["hangs", "pause"],
      ["is down", "kill"],
    ])("while it %s, entries are missing and pages are served", async (_, command) => {
      docker(command, cache);
      for (const replica of replicas) {
        expect(read(replica)).toBe("nothing");
        await expect.poll(() => isReady(objects, "web", replica)).toBe(true);
      }
      docker(command === "pause" ? "unpause" : "start", cache);
    });
  },
);
