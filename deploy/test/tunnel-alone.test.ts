import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type LoadRequest, postEvent, send } from "./load.ts";
import { compose, composeWith, doctor, host, lastLine, temporary, useStack, withServices } from "./run.ts";
import { IMAGES, projectName } from "./support/docker.ts";
import { Recorder } from "./support/recorder/client.ts";

const project = projectName("alone");
const envFile = temporary("env", "");
const built = ["proxy", "spool"].map((name) => `${name}: { image: ${IMAGES}-${name}, build: !reset null }`);
useStack(project, 6, { ...withServices(built.join()), COMPOSE_ENV_FILES: envFile });

const withoutWeb = { WEB: "off" };
const start = () => composeWith(withoutWeb)("up", "--detach", "--no-build", "--wait");
const services = async () => (await compose("ps", "--services")).split("\n").sort();
const tunnelAlone = ["proxy", "recorder", "spool", "upstream"];
const doctorLines = async () => (await doctor(withoutWeb)).output.split("\n");
const get = (status: number): LoadRequest => ({ name: "page", path: "/", status });

// That events arrive: web/e2e/readme.
test("docker compose up alone starts the tunnel without web; make up finds it up to date", async () => {
  await start();
  expect(await services()).toEqual(tunnelAlone);
  const { code, output } = await host("up", withoutWeb);
  expect(code, output).toBe(0);
  expect(output).toContain("up to date: spool proxy\n");
  const tunnel = `https://localhost:${process.env.HTTPS_PORT}/monitoring`;
  expect(output).toContain(`dsn: "<SENTRY_DSN>", tunnel: "${tunnel}" })\n`);
  expect(output).toContain("  events   go to recorder:9000, project 1\n");
  expect(output).not.toMatch(/ {2}(app|egress) /);

  const named = async () => (await doctorLines()).filter((line) => /^. (web|page|tunnel|server tunnel) /.test(line));
  const lines = [/^✓ server tunnel /, /^✓ tunnel .* accepted a probe envelope /];
  await expect.poll(named).toEqual(lines.map((line) => expect.stringMatching(line)));
  expect(await host("list-releases", withoutWeb)).toEqual({ code: 0, output: "WEB=off runs no release of web\n" });
  expect(lastLine((await host("rollback", withoutWeb)).output)).toMatch(/^culvert: rollback: WEB=off runs no release/);
});

test("with web and back: what stops is said before, and a queued envelope arrives", async () => {
  const recorder = new Recorder();
  await recorder.answer({ status: 503, headers: {}, body: "" });
  expect(await postEvent("queued")).toBe("");
  writeFileSync(envFile, `WEB_IMAGE=${IMAGES}-web:latest\n`);
  const on = await host("up", { WEB: "on" });
  expect(on.code, on.output).toBe(0);
  expect(await send(get(200))).toContain("<html");
  expect(lastLine((await host("up", withoutWeb)).output)).toBe(
    "culvert: WEB_IMAGE: it is set, but WEB=off runs no app: remove WEB_IMAGE from .env, or set WEB=on",
  );
  writeFileSync(envFile, "");
  await start();
  expect(await doctorLines()).toContain(`✗ web             ${project}-web-1 runs, but WEB is off: make up stops it`);
  const off = await host("up", withoutWeb);
  expect([off.code, await services()], off.output).toEqual([0, tunnelAlone]);
  expect(off.output).toMatch(/^ {4}WEB=off: web stops when [\s\S]*^==> Build/m);
  expect(await send(get(404))).toContain("serves no app (WEB=off)");
  await recorder.answer({ status: 200, headers: {}, body: "{}" });
  expect(await postEvent("last")).toBe("");
  for (const message of ["queued", "last"]) await recorder.waitForText(`"${message}"`);
});
