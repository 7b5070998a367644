import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "./run.ts";
import { startUploadApi, type UploadApi } from "./sentry/upload-api.ts";
import { unzip } from "./sentry/zip.ts";
import { docker, label } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

const token = `test-${randomUUID()}`;
const image = `culvert-source-maps-${randomUUID().slice(0, 8)}`;
const secrets = mkdtempSync(join(tmpdir(), "culvert-"));

// Builds an image, which takes a minute or two, so only with SOURCE_MAPS=yes.
describe.runIf(process.env.SOURCE_MAPS)(
  "an image built with a Sentry token (needs SOURCE_MAPS=yes: builds an image)",
  () => {
    let api: UploadApi;
    beforeAll(async () => {
      api = await startUploadApi("acme");
      writeFileSync(join(secrets, "token"), token);
      const bridge = await docker("network", "inspect", "bridge", "--format={{(index .IPAM.Config 0).Gateway}}");
      const args = {
        SENTRY_ORG: "acme",
        SENTRY_PROJECT: "shop",
        SENTRY_URL: `http://${bridge.output.trim()}:${api.port}/`,
      };
      await buildImage("web", { tag: image, args, secrets: { sentry_auth_token: join(secrets, "token") } });
    }, 300_000);
    afterAll(async () => {
      api.close();
      rmSync(secrets, { recursive: true });
      await docker("rmi", image);
    });

    const inImage = async (script: string) =>
      (await docker("run", "--rm", label, image, "sh", "-c", script)).output.trim();

    test("has uploaded the source map of every script, by debug id, to the project", async () => {
      expect(api.unknown).toEqual([]);
      expect([...api.credentials]).toEqual([`Bearer ${token}`]);
      expect(new Set(api.bundles.flatMap(({ projects }) => projects))).toEqual(new Set(["shop"]));

      const uploaded = new Set<string>();
      for (const { bytes } of api.bundles) {
        const files = unzip(bytes);
        const manifest = JSON.parse(files.get("manifest.json")?.toString() ?? "{}");
        for (const [path, { type, headers = {} }] of Object.entries<{ type: string; headers?: Record<string, string> }>(
          manifest.files,
        )) {
          if (type !== "source_map") continue;
          uploaded.add(headers["debug-id"] ?? "none");
          expect(files.get(path)?.toString()).toMatch(/^\{"version":3,/);
        }
      }
      const loaded = (await inImage("grep -rhoE '^//# debugId=[0-9a-f-]{36}' .next/static"))
        .split("\n")
        .map((line) => line.split("=")[1]);
      expect(loaded.length).toBeGreaterThan(5);
      expect(loaded.filter((id) => !uploaded.has(id ?? ""))).toEqual([]);
    });

    test("contains no source map, and no script names one", async () => {
      expect(await inImage("find /app -name '*.map'")).toBe("");
      expect(await inImage("grep -rl 'sourceMappingURL=' .next/static || true")).toBe("");
    });

    test("has the token neither in a layer nor in its history or configuration", async () => {
      const { output } = await docker("history", "--no-trunc", image);
      const config = await docker("inspect", image);
      expect(output + config.output).not.toContain(token);
      // Every byte of every layer; grep's status 1 means that nothing was found.
      const found = await run(["sh", "-c", `docker save ${image} | grep -c -a -F -f ${join(secrets, "token")}`]);
      expect(found).toEqual({ code: 1, output: "0\n" });
    });
  },
);
