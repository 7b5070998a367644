import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run } from "./run.ts";
import { docker, label, must } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

const token = `test-${randomUUID()}`;
const secrets = mkdtempSync(join(tmpdir(), "culvert-"));
const limits = { chunkSize: 8 << 20, chunksPerRequest: 64, maxFileSize: 1 << 30, maxRequestSize: 32 << 20 };

/** Requests as "METHOD path credentials", and the projects of those that have a bundle of source maps joined from its chunks. */
const requests = new Set<string>();
// A Sentry to which sentry-cli uploads: it has each chunk already.
const api = createServer(async (request, response) => {
  const { method, url = "", headers } = request;
  const { projects = [] } = JSON.parse((await request.toArray()).join("") || "{}");
  requests.add([method, url.split("?")[0], headers.authorization, ...projects].join(" "));
  const accept = ["release_files", "sources", "artifact_bundles", "artifact_bundles_v2"];
  const answer = { url: `http://${headers.host}${url}`, ...limits, concurrency: 4, hashAlgorithm: "sha1", accept };
  response.setHeader("content-type", "application/json");
  const body = method === "GET" ? { ...answer, compression: ["gzip"] } : { state: "ok", missingChunks: [] };
  response.end(JSON.stringify(body));
});

// Builds an image, which takes a minute or two, so only with SOURCE_MAPS=yes.
const needed = "(needs SOURCE_MAPS=yes: builds an image)";
test.runIf(process.env.SOURCE_MAPS)(
  `an image built with a Sentry token has uploaded its source maps ${needed}`,
  async () => {
    // On all addresses, so that the build can reach it.
    await new Promise<void>((resolve) => api.listen(0, "0.0.0.0", resolve));
    onTestFinished(() => void api.close());
    writeFileSync(join(secrets, "token"), token);
    const gateway = await must("network", "inspect", "bridge", "--format={{(index .IPAM.Config 0).Gateway}}");
    const SENTRY_URL = `http://${gateway}:${(api.address() as AddressInfo).port}/`;
    const args = { SENTRY_ORG: "acme", SENTRY_PROJECT: "shop", SENTRY_URL };
    const image = await buildImage("web", { args, secrets: { sentry_auth_token: join(secrets, "token") } });
    onTestFinished(() => docker("rmi", image).then(() => {}));
    const path = "/api/0/organizations/acme";
    expect([...requests].sort()).toEqual([
      `GET ${path}/chunk-upload/ Bearer ${token}`,
      `POST ${path}/artifactbundle/assemble/ Bearer ${token} shop`,
    ]);

    // It contains no source map and not the token, in no layer and not in its history.
    const found = "find /app -name '*.map'; grep -rl 'sourceMappingURL=' .next/static; :";
    expect(await must("run", "--rm", label, image, "sh", "-c", found)).toBe("");
    expect((await must("history", "--no-trunc", image)) + (await must("inspect", image))).not.toContain(token);
    // Every byte of every layer; grep's status 1 means that nothing was found.
    const layers = await run(["sh", "-c", `docker save ${image} | grep -c -a -F -f ${join(secrets, "token")}`]);
    expect(layers).toEqual({ code: 1, output: "0\n" });
  },
);
