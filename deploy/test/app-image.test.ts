import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makePair } from "./support/certificate.ts";
import { docker, label, must, root, run as runProgram } from "./support/docker.ts";
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
const lockfiles = {
  npm: ["package-lock.json", '{ "lockfileVersion": 3, "packages": { "": {} } }'],
  yarn: ["yarn.lock", "# yarn lockfile v1\n"],
} as const;
const images: string[] = [];
afterAll(async () => {
  await docker("image", "rm", "--force", ...images);
});

/** Builds an app that a package manager has locked and whose build leaves its server in `output`; returns the image. `files` are more of its files. */
async function build(
  manager: keyof typeof lockfiles,
  output: string,
  options: BuildOptions = {},
  files: Record<string, string> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "culvert-app-"));
  const app = join(folder, options.args?.APP ?? ".");
  for (const path of [join(app, "public"), join(folder, "node_modules")]) mkdirSync(path, { recursive: true });
  const manifest = '{ "name": "x", "private": true, "scripts": { "build": "node build.cjs" } }';
  for (const place of [folder, app]) writeFileSync(join(place, "package.json"), manifest);
  writeFileSync(join(folder, lockfiles[manager][0]), lockfiles[manager][1]);
  writeFileSync(join(app, "build.cjs"), nextBuild(output));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(app, file), text);
  writeFileSync(join(app, "public/robots.txt"), "");
  const server_actions_key = join(folder, "node_modules/key");
  writeFileSync(server_actions_key, key);
  const sentry_auth_token = join(folder, "node_modules/token");
  writeFileSync(sentry_auth_token, token);
  const secrets = { server_actions_key, sentry_auth_token, ...options.secrets };
  images.push(await buildImage(folder, { dockerfile: "deploy/app/Dockerfile", ...options, secrets }));
  return images.at(-1) ?? "";
}
const run = (image: string, ...command: string[]) => must("run", "--rm", label, "--network=none", image, ...command);

// npm, pnpm and a later yarn: web/e2e.
test("an app that yarn has locked, in a version that nobody names: no root, writable caches, no maps, no package manager", async () => {
  const image = await build("yarn", ".next/standalone");
  const look =
    "id -u; ls public .next/static; touch .next/cache/x .next/server/route-cache/x; which npm pnpm yarn; touch x";
  const found = await docker("run", "--rm", label, "--network=none", image, "sh", "-c", look);
  expect(found.output.split("\n").slice(0, 6)).toEqual(["1000", ".next/static:", "a.js", "", "public:", "robots.txt"]);
  expect(found.output.match(/touch: .*|\/bin\/.*/g)).toEqual([
    expect.stringMatching(/touch: .*'?x'?: Permission denied/),
  ]);
});

test("an app of a monorepo starts in its own folder, which is /app; deploymentId is of the sources and the key; its layers have no token", async () => {
  const shop = (files = {}) => build("npm", ".next/standalone/apps/shop", { args: { APP: "apps/shop" } }, files);
  const image = await shop();
  expect(await run(image, "sh", "-c", "pwd -P; ls /app")).toBe("/srv/apps/shop\npublic\nserver.js");
  const [id, ...secrets] = (await run(image)).split(" ");
  expect([id, secrets]).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/), [key, String(token.length)]]);
  expect(await must("image", "history", "--no-trunc", image)).not.toContain(key);
  const search = await runProgram("sh", ["-c", `docker save ${image} | grep -c -a -F ${token}`]);
  expect(search).toEqual({ code: 1, output: "0\n" });
  expect(await run(await shop())).toBe([id, ...secrets].join(" "));
  expect(await run(await shop({ "changed.js": "" }))).not.toContain(id);
});

test("what is missing is one line", async () => {
  await expect(build("npm", "elsewhere")).rejects.toThrow(
    /next\.config: the build has no standalone server: add output: "standalone"/,
  );
  const secrets = { server_actions_key: join(mkdtempSync(join(tmpdir(), "culvert-key-")), "key") };
  writeFileSync(secrets.server_actions_key, "short");
  await expect(build("npm", ".next/standalone", { secrets }, { "short.key": "" })).rejects.toThrow(
    /server_actions_key: not 32 bytes in base64: make it with 'openssl rand -base64 32'/,
  );
  const pair = join(mkdtempSync(join(tmpdir(), "culvert-pair-")), "pair");
  makePair(pair, ["localhost"]);
  const server = createServer({ cert: readFileSync(`${pair}.crt`), key: readFileSync(`${pair}.key`) }).listen(0);
  await once(server, "listening");
  const registry = `registry=https://localhost:${(server.address() as AddressInfo).port}`;
  await expect(build("npm", ".next/standalone", { network: "host" }, { ".npmrc": registry })).rejects.toThrow(
    /build_ca: this network inspects TLS \([A-Z_]+\): set BUILD_CA_FILE to a file with its CA/,
  );
  server.close();
});

// deploy/ingest is not built for tests.
test.each(["deploy/app", "deploy/ingest"])(
  "%s has the base image of web, and removes from it what web removes",
  (folder) => {
    const shared = (file: string) =>
      readFileSync(join(root, file), "utf8").match(/\bnode:\S+|^RUN rm -rf \/usr.*\n.*|^USER 1000:1000$/gm);
    expect(new Set(shared(`${folder}/Dockerfile`))).toEqual(new Set(shared("web/Dockerfile")));
  },
);
