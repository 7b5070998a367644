import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { label, must, root } from "../../test/support/docker.ts";
import { buildImage, buildWithDebian } from "../../test/support/images.ts";
import { template } from "./lib/chart.ts";
import { healthy, linesOf } from "./lib/cluster.ts";
import { built, hasImages, useNode } from "./lib/kubelet.ts";
import { of, podOf, type Resource } from "./lib/objects.ts";

const site = "app.example.com";
const timeout = 600_000;
const password = `5ecret "with" it's \\spaces\\`;

/** Writes a self-signed pair as kubelet writes a Secret: of root, group-readable, behind a symbolic link that is replaced. */
const secret = (version: string) => `
  cd /secret; mkdir ..${version}
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=${version} \
    -addext subjectAltName=DNS:${site} -keyout ..${version}/tls.key -out ..${version}/tls.crt 2>/dev/null
  chgrp -R 101 ..${version}; chmod 0440 ..${version}/*
  ln -sfn ..${version} ..new; mv -T ..new ..data
  ln -sf ..data/tls.crt ..data/tls.key .`;

const withCache = (code: string) => `
  const { default: Cache } = await import("/app/cache-handler.mjs");
  const options = { serverDistDir: "/app/.next/server", dev: false, flushToDisk: false, maxMemoryCacheSize: 0 };
  const cache = new Cache(options);
  const page = (body) => ({ kind: "FETCH", data: { body, headers: {}, status: 200, url: "" }, revalidate: 3600 });
  const context = { fetchCache: true, kind: "FETCH", tags: ["news"], softTags: [] };
  const read = async () => (await cache.get("front", context))?.value?.data.body ?? "nothing";
  await read();
  await new Promise((connected) => setTimeout(connected, 300));
  ${code}
  process.exit();`;

const expectLines = (found: string[], lines: string) => {
  for (const line of lines.trim().split("\n"))
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${line}`)));
};

describe.skipIf(!hasImages("proxy", "web", "spool"))("production's pods, run in Docker by their manifests", () => {
  let objects: Resource[];
  const sentry = { dsn: "http://culvert@ingest.elsewhere.example:9000/1" };
  const { exec, ...node } = useNode("pods", { sentry, "shared-cache": { password } });
  const start = (...names: string[]) => node.run(["up", "--detach", ...names]);
  const ready = (...names: string[]) => node.run(["up", "--detach", "--no-deps", "--wait", ...names]);
  const curl = (...args: string[]) => exec("proxy", "curl", "-sSk", "--resolve", `${site}:8443:127.0.0.1`, ...args);
  const writeSecret = (version: string) => node.run(["run", "--rm", "--no-TTY", "secret", secret(version)]);

  beforeAll(async () => {
    objects = template([{ cache: { enabled: true } }], { example: "production" });
    const imageOf = (name: string): string => podOf(objects, name).containers[0].image;
    node.images[imageOf("web-previous")] = await buildImage("web/e2e/successor", { args: { IMAGE: built("web") } });
    node.images[imageOf("cache")] = await buildWithDebian();
    for (const name of ["proxy", "web", "web-previous", "spool", "cache"]) node.addPod(objects, name);
    node.addPod(objects, "web", "web-2");
    const root = { image: built("proxy"), user: "0:0", entrypoint: ["sh", "-ec"] };
    node.services.secret = { ...root, volumes: [{ type: "volume", source: "proxy-tls", target: "/secret" }] };
    writeSecret("first");
  });

  test("the proxy starts without the others, and is not ready before web is", { timeout: 2 * timeout }, async () => {
    start("proxy");
    const status = (path: string) =>
      exec("proxy", "curl", "-s", "-o/dev/null", "-w%{http_code}", `http://127.0.0.1:8081${path}`);
    await expect.poll(() => status("/healthz"), { timeout }).toBe("200");
    expect(status("/readyz")).toBe("503");
    start("cache", "web", "spool");
    ready("web", "spool", "proxy");
  });

  test("a new proxy serves files that only the previous release's image contains", async () => {
    const response = (file: string) => curl("-w", " %{http_code}", `https://${site}:8443/_next/static/${file}`);
    const list = ["--entrypoint=ls", "--workdir=/app/.next/static/chunks"];
    const filesOf = (name: string) => must("run", "--rm", label, ...list, node.services[name].image);
    const [own, old] = [await filesOf("web"), await filesOf("web-previous")];
    expect(own).not.toContain(old.split("\n")[0]);
    for (const [files, status] of [
      [own, 200],
      [old, 200],
      ["of-no-release.js", 404],
    ] as const)
      expect(response(`chunks/${files.split("\n")[0]}`)).toMatch(new RegExp(` ${status}$`));
  });

  test("an open page of the previous release reaches it, others the new one", { timeout: 2 * timeout }, async () => {
    start("web-previous");
    ready("web-previous");
    // Which deployment a page of this one reaches, by a navigation of Next's router.
    const reached = (deployment: string) =>
      /^x-nextjs-deployment-id: (\S+)/m.exec(
        curl("-o/dev/null", "-D-", "-HRSC: 1", `-HX-Deployment-Id: ${deployment}`, `https://${site}:8443/`),
      )?.[1];
    const id = "require('/app/.next/required-server-files.json').config.deploymentId";
    const [old = "", current = ""] = ["web-previous", "web"].map((name) => exec(name, "node", "-p", id));
    expect(old).not.toBe(current);
    await expect.poll(() => reached(old), { timeout }).toBe(old);
    expect([reached(current), reached("gone")]).toEqual([current, current]);
    const release = (name: string) => exec(name, "printenv", "SENTRY_RELEASE");
    expect([release("web-previous"), release("web")]).toEqual(["0.9.0", "1.0.0"]);
  });

  const verified = () => {
    const live = healthy(objects);
    for (const { metadata, status } of of(live, "Pod"))
      status.podIP = exec(/spool/.test(metadata.name) ? "spool" : "proxy", "hostname", "-i");
    const objectsOf = `\n== objects\n${JSON.stringify({ items: live })}\n`;
    const said = plan(parseFacts(objectsOf)).map((line) => {
      const [role = "", , more = ""] = line.split(" ");
      if (role === "get") return "";
      const file = `${root}deploy/checks/cluster/ask${role === "proxy" ? "-proxy.sh" : ".mjs"}`;
      const command = role === "proxy" ? ["sh", "-s", "--", more] : ["node", "--input-type=module", "-", more];
      return `\n== ${role}\n${node.inContainer(role, command, readFileSync(file, "utf8")).stdout}\n`;
    });
    return linesOf(objectsOf + said.join(""));
  };

  test("make verify-cluster, asked in these pods, finds what is wrong in Docker", {
    timeout: 2 * timeout,
  }, async () => {
    const lines = `
ok proxy → culvert-web: .*
ok proxy → culvert-web-all: .*
ok proxy → culvert-spool-headless: .*
ok proxy → culvert-spool: .*
failed ingest: .* does not resolve
skipped envelopes: .*
ok web → culvert-server-tunnel: .*
ok web → culvert-spool-headless: .*
ok metrics: available
failed network policies: not enforced: web reaches the proxy's port for probes`;
    expectLines(verified(), lines);
    // Then with an ingest. The proxy asks for its address again every few seconds.
    const answers =
      "http.createServer((request, response) => request.resume().on('end', () => response.end())).listen(9000)";
    const networks = { default: { aliases: ["ingest.elsewhere.example"] } };
    node.services.ingest = { image: built("spool"), entrypoint: ["node", "-e", answers], networks };
    start("ingest");
    const accepted = "ok envelope: the proxy accepted a probe envelope";
    await expect.poll(verified, { timeout }).toContain(accepted);
    expect(verified()).toContain("ok ingest: ingest.elsewhere.example:9000 (project 1) accepted a probe envelope");
    // Its own probe is not counted. Those of the runs before may still wait. Both spools are one container here, where the first one's
    // probe may wait while the second one is asked.
    const metrics = "fetch('http://127.0.0.1:8082/metrics').then((answer) => answer.text()).then(console.log)";
    const waiting = () => exec("spool", "node", "-e", metrics).match(/^culvert_spool_queued_envelopes.* [1-9]\d*$/m);
    await expect.poll(waiting, { timeout }).toBeNull();
    expectLines(verified(), "ok culvert-spool-1: writes to its volume; [01] envelopes queued");
  });

  test("a renewed certificate is served without a restart", async () => {
    const served = () => curl("-o", "/dev/null", "-w", "%{certs}", `https://${site}:8443/healthz`);
    expect(served()).toMatch(/Subject:CN ?= ?first/);
    writeSecret("second");
    await expect.poll(served).toMatch(/Subject:CN ?= ?second/);
  });

  const inReplica = (name: string, code: string) => exec(name, "node", "--input-type=module", "-e", withCache(code));
  const write = (name: string, body: string) => inReplica(name, `await cache.set("front", page("${body}"), context);`);
  const read = (name: string) => inReplica(name, "console.log(await read());");
  const cli = (...command: string[]) => exec("cache", "valkey-cli", ...command);
  const withPassword = ["--no-auth-warning", "-a", password];

  test("replicas share what one has rendered, until it is revalidated", {
    timeout,
  }, async () => {
    start("web-2");
    ready("web-2");
    const shared = () => {
      write("web", "as of today");
      return read("web-2");
    };
    await expect.poll(shared).toBe("as of today");
    inReplica("web", `await cache.revalidateTag("news");`);
    expect(read("web-2")).toBe("nothing");
    write("web-2", "as of tonight");
    expect(read("web")).toBe("as of tonight");
  });

  test("the shared cache has a password and a memory limit, and writes nothing to disk", () => {
    expect(cli("dbsize")).toMatch(/NOAUTH/);
    expect(cli(...withPassword, "dbsize")).toMatch(/^[1-9]/);
    expect(exec("cache", "cat", "/proc/1/cmdline")).not.toContain(password);
    const setting = (name: string) => cli(...withPassword, "config", "get", name).split("\n")[1] ?? "";
    expect(Number(setting("maxmemory"))).toBe(node.services.cache.mem_limit * 0.75);
    expect(["maxmemory-policy", "save", "appendonly"].map(setting)).toEqual(["allkeys-lru", "", "no"]);
  });

  test.each(["pause unpause", "kill start"])(
    "the shared cache may hang or be down (%s): pages are served",
    async (commands) => {
      const [command = "", undo = ""] = commands.split(" ");
      node.run([command, "cache"]);
      expect(["web", "web-2"].map(read)).toEqual(["nothing", "nothing"]);
      ready("web", "web-2");
      node.run([undo, "cache"]);
    },
  );
});
