import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { label, must, root } from "../../test/support/docker.ts";
import { buildImage, buildWithDebian } from "../../test/support/images.ts";
import { rendering, template } from "./lib/chart.ts";
import { healthy, linesOf } from "./lib/cluster.ts";
import { built, hasImages, useNode } from "./lib/kubelet.ts";
import { of, podOf, type Resource } from "./lib/objects.ts";

const site = "app.example.com";
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

const expectLines = (found: string[], ...lines: RegExp[]) => {
  for (const line of lines) expect(found).toContainEqual(expect.stringMatching(line));
};

describe.skipIf(!hasImages("proxy", "web", "spool"))("production's pods, run in Docker by their manifests", () => {
  let objects: Resource[];
  const sentry = { dsn: "http://culvert@ingest.elsewhere.example:9000/1" };
  const { exec, ...node } = useNode("pods", { sentry, "shared-cache": { password } });
  const start = (...names: string[]) => node.run(["up", "--detach", ...names]);
  const ready = (...names: string[]) => {
    const health = () => node.run(["ps", "--format={{.Health}}", ...names]);
    return expect.poll(health, { interval: 1_000 }).toBe(names.map(() => "healthy").join("\n"));
  };
  const curl = (...args: string[]) => exec("proxy", "curl", "-sSk", "--resolve", `${site}:8443:127.0.0.1`, ...args);
  const writeSecret = (version: string) => node.run(["run", "--rm", "--no-TTY", "secret", secret(version)]);

  beforeAll(async () => {
    objects = template([{ cache: { enabled: true } }], { example: "production" });
    // The last init container also waits for a cluster's DNS caches, which Docker does not have (rules.test.ts).
    const { command } = podOf(objects, "web").initContainers.at(-1);
    command.push(command.pop().replace(/setTimeout.*/, ""));
    const imageOf = (name: string): string => podOf(objects, name).containers[0].image;
    node.images[imageOf("web-previous")] = await buildImage("web/e2e/successor", { args: { IMAGE: built("web") } });
    node.images[imageOf("cache")] = await buildWithDebian();
    for (const name of ["proxy", "web", "web-previous", "spool", "cache"]) node.addPod(objects, name);
    node.addPod(objects, "web", "web-2");
    const root = { image: built("proxy"), user: "0:0", entrypoint: ["sh", "-ec"] };
    node.services.secret = { ...root, volumes: [{ type: "volume", source: "proxy-tls", target: "/secret" }] };
    writeSecret("first");
  });

  test("the proxy starts without the others, and is not ready before web is", async () => {
    start("proxy");
    const status = (path: string) =>
      exec("proxy", "curl", "-s", "-o/dev/null", "-w%{http_code}", `http://127.0.0.1:8081${path}`);
    await expect.poll(() => status("/healthz")).toBe("200");
    expect(status("/readyz")).toBe("503");
    const others = ["web", "web-2", "web-previous", "spool"];
    start("cache", ...others);
    await ready(...others, "proxy");
  });

  test("a new proxy serves files that only the previous release's image contains", async () => {
    const response = (file: string) => curl("-w", " %{http_code}", `https://${site}:8443/_next/static/${file}`);
    const list = ["--entrypoint=ls", "--workdir=/app/.next/static/chunks"];
    const filesOf = (name: string) => must("run", "--rm", label, ...list, node.services[name].image);
    const [current, old] = [await filesOf("web"), await filesOf("web-previous")];
    expect(current).not.toContain(old.split("\n")[0]);
    for (const files of [current, old]) expect(response(`chunks/${files.split("\n")[0]}`)).toMatch(/ 200$/);
    expect(response("chunks/of-no-release.js")).toMatch(/ 404$/);
  });

  test("an open page of the previous release reaches it, others the new one", async () => {
    // Which deployment a page of this one reaches, by a navigation of Next's router.
    const reached = (deployment: string) =>
      /^x-nextjs-deployment-id: (\S+)/m.exec(
        curl("-o/dev/null", "-D-", "-HRSC: 1", `-HX-Deployment-Id: ${deployment}`, `https://${site}:8443/`),
      )?.[1];
    const id = "require('/app/.next/required-server-files.json').config.deploymentId";
    const [old = "", current = ""] = ["web-previous", "web"].map((name) => exec(name, "node", "-p", id));
    expect(old).not.toBe(current);
    await expect.poll(() => reached(old)).toBe(old);
    expect([reached(current), reached("gone")]).toEqual([current, current]);
    // Next itself says it in responses to RSC: 1 only.
    const asked = `fetch("http://127.0.0.1:3000/.culvert").then(({ headers }) => console.log(...headers.values()))`;
    expect(exec("web", "node", "-e", asked)).toContain(current);
    const release = (name: string) => exec(name, "printenv", "SENTRY_RELEASE");
    expect([release("web-previous"), release("web")]).toEqual(["0.9.0", "1.0.0"]);
  });

  const verified = () => {
    const live = healthy(objects);
    const [spool, proxy] = ["spool", "proxy"].map((name) => exec(name, "hostname", "-i"));
    for (const { metadata, status } of of(live, "Pod")) status.podIP = /spool/.test(metadata.name) ? spool : proxy;
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

  test("make verify-cluster, asked in these pods, finds what is wrong in Docker", async () => {
    expectLines(
      verified(),
      /^ok proxy → culvert-web: /,
      /^ok proxy → culvert-web-all: /,
      /^ok proxy → culvert-spool-headless: /,
      /^ok proxy → culvert-spool: /,
      /^failed ingest: .* does not resolve/,
      /^skipped envelopes: /,
      /^ok web → culvert-server-tunnel: /,
      /^ok web → culvert-spool-headless: /,
      /^ok metrics: available/,
      /^failed network policies: not enforced: web reaches the proxy's port for probes/,
    );
    // Then with an ingest. The proxy asks for its address again every few seconds.
    const answers =
      "http.createServer((request, response) => request.resume().on('end', () => response.end())).listen(9000)";
    const networks = { default: { aliases: ["ingest.elsewhere.example"] } };
    node.services.ingest = { image: built("spool"), entrypoint: ["node", "-e", answers], networks };
    start("ingest");
    const accepted = "accepted a probe envelope (SDK culvert.doctor)";
    const lines = ["ok envelope: the proxy", "ok ingest: ingest.elsewhere.example:9000 (project 1)"];
    await expect.poll(verified).toEqual(expect.arrayContaining(lines.map((line) => `${line} ${accepted}`)));
    // Its own probe is not counted. Those of the runs before may still wait. Both spools are one container here, where the first one's
    // probe may wait while the second one is asked.
    const metrics = "fetch('http://127.0.0.1:8082/metrics').then((answer) => answer.text()).then(console.log)";
    const waiting = () => exec("spool", "node", "-e", metrics).match(/^culvert_spool_queued_envelopes.* [1-9]\d*$/m);
    await expect.poll(waiting).toBeNull();
    expectLines(verified(), /^ok culvert-spool-1: writes to its volume; [01] envelopes queued/);
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

  test("replicas share what one has rendered, until it is revalidated", async () => {
    // A late answer counts as none.
    const expectShared = (from: string, to: string, body: string) =>
      expect
        .poll(() => {
          write(from, body);
          return read(to);
        })
        .toBe(body);
    const afterRevalidation = () => {
      inReplica("web", `await cache.revalidateTag("news");`);
      return read("web-2");
    };
    await expectShared("web", "web-2", "as of today");
    await expect.poll(afterRevalidation).toBe("nothing");
    await expectShared("web-2", "web", "as of tonight");
  });

  test("the shared cache has a password and a memory limit, and writes nothing to disk", () => {
    expect(cli("dbsize")).toMatch(/NOAUTH/);
    expect(cli(...withPassword, "dbsize")).toMatch(/^[1-9]/);
    expect(exec("cache", "cat", "/proc/1/cmdline")).not.toContain(password);
    const setting = (name: string) => cli(...withPassword, "config", "get", name).split("\n")[1] ?? "";
    expect(Number(setting("maxmemory"))).toBe(node.services.cache.mem_limit * 0.75);
    expect(["maxmemory-policy", "save", "appendonly"].map(setting)).toEqual(["allkeys-lru", "", "no"]);
  });

  test.each([
    { does: "pause", undo: "unpause" },
    { does: "kill", undo: "start" },
  ])("the shared cache may hang or be down ($does): pages are served", async ({ does, undo }) => {
    node.run([does, "cache"]);
    expect(["web", "web-2"].map(read)).toEqual(["nothing", "nothing"]);
    expect(curl("-o/dev/null", "-w%{http_code}", `https://${site}:8443/`)).toBe("200");
    node.run([undo, "cache"]);
  });

  test("the tunnel alone is ready without web, and has no other path", async () => {
    node.addPod(rendering("tunnel alone"), "proxy", "alone");
    start("alone");
    await ready("alone");
    const status = (path: string) =>
      exec("alone", "curl", "-sk", "-o/dev/null", "-w%{http_code}", `https://localhost:8443${path}`);
    expect(["/", "/_next/static/a.js", "/.culvert/health"].map(status)).toEqual(["404", "404", "200"]);
  });
});
