import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { must as run, temporary } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import { docker, label, must, root } from "./support/docker.ts";
import { type BuildOptions, buildImage } from "./support/images.ts";

// Real builds of Next are in web/e2e/matrix. This one leaves what Next leaves.
const nextBuild = (output: string) => `
  const { mkdirSync, writeFileSync } = require("fs");
  const { NEXT_DEPLOYMENT_ID: id, NEXT_SERVER_ACTIONS_ENCRYPTION_KEY: key, SENTRY_AUTH_TOKEN: token } = process.env;
  mkdirSync(".next/static", { recursive: true });
  for (const file of ["a.js", "a.js.map"]) writeFileSync(".next/static/" + file, "1");
  mkdirSync("${output}/.next", { recursive: true });
  writeFileSync("${output}/server.js", "console.log(" + JSON.stringify([id, key, token.length].join(" ")) + ")");`;
const key = Buffer.alloc(32, 7).toString("base64");
const token = "token-of-sentry";
const images: string[] = [];
afterAll(async () => {
  await docker("image", "rm", "--force", ...images);
});

async function build(output: string, files: Record<string, string> = {}, options: BuildOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "culvert-app-"));
  const app = join(folder, options.args?.APP ?? ".");
  mkdirSync(join(app, "public"), { recursive: true });
  const manifest = '{ "name": "x", "private": true, "scripts": { "build": "node build.cjs" } }';
  for (const place of [folder, app]) writeFileSync(join(place, "package.json"), manifest);
  if (!("yarn.lock" in files))
    writeFileSync(join(folder, "package-lock.json"), '{ "lockfileVersion": 3, "packages": { "": {} } }');
  for (const [file, text] of Object.entries({ "build.cjs": nextBuild(output), "public/robots.txt": "", ...files }))
    writeFileSync(join(app, file), text);
  const secrets = { server_actions_key: temporary("key", key), sentry_auth_token: temporary("token", token) };
  const all = { dockerfile: "deploy/app/Dockerfile", ...options, secrets: { ...secrets, ...options.secrets } };
  const image = await buildImage(folder, all);
  images.push(image);
  return image;
}
const inImage = (image: string, ...command: string[]) => ["run", "--rm", label, "--network=none", image, ...command];

// npm, pnpm and a later yarn: web/e2e.
test("an app of yarn: no root, writable caches, no maps, no package manager", async () => {
  const image = await build(".next/standalone", { "yarn.lock": "# yarn lockfile v1\n" });
  const written = ".next/cache/x .next/server/route-cache/x";
  const look = `id -u; ls public .next/static; touch ${written}; which npm pnpm yarn; find / -xdev -perm /6000 -type f; touch x`;
  const { output } = await docker(...inImage(image, "sh", "-c", look));
  expect(output.split("\n").slice(0, 6)).toEqual(["1000", ".next/static:", "a.js", "", "public:", "robots.txt"]);
  expect(output.match(/touch: .*|^\/.*/gm)).toEqual([expect.stringMatching(/touch: .*'?x'?: Permission denied/)]);
});

test("an app of a monorepo starts in its own folder; deploymentId is of sources and key; no layer has a token", async () => {
  const shop = (files = {}) => build(".next/standalone/apps/shop", files, { args: { APP: "apps/shop" } });
  const image = await shop();
  expect(await must(...inImage(image, "sh", "-c", "pwd -P; ls /app"))).toBe("/srv/apps/shop\npublic\nserver.js");
  const printed = await must(...inImage(image));
  const [id = "", ...secrets] = printed.split(" ");
  expect([id, secrets]).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/), [key, String(token.length)]]);
  expect(await must("image", "history", "--no-trunc", image)).not.toContain(key);
  expect(await run(["sh", "-c", `docker save ${image} | { ! grep -c -a -F ${token}; }`])).toBe("0");
  expect(await must(...inImage(await shop()))).toBe(printed);
  expect(await must(...inImage(await shop({ "changed.js": "" })))).not.toContain(id);
});

test("what is missing is one line", async () => {
  await expect(build("elsewhere")).rejects.toThrow(
    /next\.config: the build has no standalone server: add output: "standalone"/,
  );
  const secrets = { server_actions_key: temporary("key", "short") };
  await expect(build(".next/standalone", { "short.key": "" }, { secrets })).rejects.toThrow(
    /server_actions_key: not 32 bytes in base64: make it with 'openssl rand -base64 32'/,
  );
  const pair = temporary("pair", "");
  makePair(pair, ["localhost"]);
  const server = createServer({ cert: readFileSync(`${pair}.crt`), key: readFileSync(`${pair}.key`) }).listen(0);
  await once(server, "listening");
  const registry = `registry=https://localhost:${(server.address() as AddressInfo).port}`;
  await expect(build(".next/standalone", { ".npmrc": registry }, { network: "host" })).rejects.toThrow(
    /build_ca: this network inspects TLS \([A-Z_]+\): set BUILD_CA_FILE to a file with its CA/,
  );
  server.close();
});

test.each(["app", "ingest"])("deploy/%s has the base image of web, and removes from it what web removes", (folder) => {
  const shared = (file: string) =>
    readFileSync(join(root, file), "utf8").match(/\bnode:\S+|^RUN rm -rf \/usr.*\n.*|^USER 1000:1000$/gm);
  expect(new Set(shared(`deploy/${folder}/Dockerfile`))).toEqual(new Set(shared("web/Dockerfile")));
});
