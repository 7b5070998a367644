import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { check } from "../../checks/cluster/verify.ts";
import { label } from "../../test/support/docker.ts";
import { buildWithDebian } from "../../test/support/images.ts";
import { hasHelm, template } from "./lib/chart.ts";
import { healthy } from "./lib/cluster.ts";
import { buildFrom, built, docker, hasImages } from "./lib/docker.ts";
import { isReady, startPod, useNode } from "./lib/kubelet.ts";
import { of, podOf, type Resource } from "./lib/objects.ts";
import { root } from "./lib/paths.ts";

const site = "app.example.com";
const timeout = 600_000;

/** Writes a self-signed pair to a volume as kubelet writes a Secret: owned by root, group-readable, behind a symbolic link that is replaced. */
const writeSecret = (volume: string, version: string) =>
  docker(
    ...["run", "--rm", label, "--network=none", "--user=0:0", "--entrypoint=sh", `--volume=${volume}:/secret`],
    ...[built("proxy"), "-ec"],
    `cd /secret; mkdir ..${version}
     openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=${version} \
       -addext subjectAltName=DNS:${site} -keyout ..${version}/tls.key -out ..${version}/tls.crt 2>/dev/null
     chgrp -R 101 ..${version}; chmod 0440 ..${version}/*
     ln -sfn ..${version} ..new; mv -T ..new ..data
     ln -sf ..data/tls.crt ..data/tls.key .`,
  );

/** The previous release: another deploymentId, and one file of its own. */
const previousRelease = `FROM ${built("web")}
USER 0:0
RUN printf "old();" >/app/.next/static/chunks/of-the-old-release.js
RUN id=$(cat /app/.next/BUILD_ID) && old=o\${id#?} && mv "/app/.next/static/$id" "/app/.next/static/$old" && \\
  grep -rl "$id" /app | tr '\\n' '\\0' | xargs -0 sed -i "s/$id/$old/g"
USER 1000:1000
`;

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

/** Each line is the beginning of one that is found. */
const expectLines = (found: string[], lines: string) => {
  for (const line of lines.trim().split("\n"))
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${line}`)));
};

describe.skipIf(!hasHelm || !hasImages("proxy", "web", "spool"))(
  "production's pods, run in Docker by their manifests",
  () => {
    let objects: Resource[];
    const sentry = { dsn: "http://culvert@ingest.elsewhere.example:9000/1" };
    const node = useNode("pods", { sentry, "shared-cache": { password: "5ecret" } }, [
      "--network-alias=kubernetes.default.svc",
    ]);
    const ids: Record<string, string> = {};
    const id = (name: string) => ids[name] ?? "";
    const start = (name: string, as = name) => {
      ids[as] = startPod(objects, name, node);
    };
    const ready = (name: string, as = name) => expect.poll(() => isReady(objects, name, id(as))).toBe(true);
    const curl = (...args: string[]) =>
      docker("exec", id("proxy"), "curl", "-sSk", "--resolve", `${site}:8443:127.0.0.1`, ...args);

    beforeAll(async () => {
      objects = template([{ cache: { enabled: true } }], { example: "production" });
      const imageOf = (name: string): string => podOf(objects, name).containers[0].image;
      node.volumes["proxy-tls"] = docker("volume", "create", label, `${node.network}-tls`);
      writeSecret(node.volumes["proxy-tls"], "first");
      node.images = {
        [imageOf("web-previous")]: buildFrom(previousRelease),
        [imageOf("cache")]: await buildWithDebian(),
      };
    });

    test("the proxy starts without the others, and is not ready before web is", { timeout: 2 * timeout }, async () => {
      start("proxy");
      const health = () => docker("exec", id("proxy"), "curl", "-sS", "http://127.0.0.1:8081/healthz");
      await expect.poll(health, { timeout }).toBe("ok");
      expect(isReady(objects, "proxy", id("proxy"))).toBe(false);
      for (const name of ["cache", "web", "spool"]) start(name);
      for (const name of ["web", "spool", "proxy"]) await ready(name);
    });

    test("a new proxy serves files of the previous release, which web's image no longer contains", () => {
      const response = (file: string) => curl("-w", " %{http_code}", `https://${site}:8443/_next/static/${file}`);
      expect(response("chunks/of-the-old-release.js")).toBe("old(); 200");
      expect(response("chunks/of-no-release.js")).toMatch(/ 404$/);
      const [own = ""] = docker("exec", id("web"), "ls", "/app/.next/static/chunks").split("\n");
      expect(response(`chunks/${own}`)).toMatch(/ 200$/);
    });

    test("an open page of the previous release reaches it, others the new one", { timeout: 2 * timeout }, async () => {
      start("web-previous");
      await ready("web-previous");
      // Which deployment a page of this one reaches, by a navigation of Next's router.
      const reached = (deployment: string) =>
        /^x-nextjs-deployment-id: (\S+)/m.exec(
          curl("-o/dev/null", "-D-", "-HRSC: 1", `-HX-Deployment-Id: ${deployment}`, `https://${site}:8443/`),
        )?.[1];
      const [old = "", current = ""] = ["web-previous", "web"].map((name) =>
        docker("exec", id(name), "cat", "/app/.next/BUILD_ID"),
      );
      expect(old).not.toBe(current);
      await expect.poll(() => reached(old), { timeout }).toBe(old);
      expect([reached(current), reached("gone")]).toEqual([current, current]);
      const release = (name: string) => docker("exec", id(name), "printenv", "SENTRY_RELEASE");
      expect([release("web-previous"), release("web")]).toEqual(["0.9.0", "1.0.0"]);
    });

    /** Asks these pods as verify.sh does, and returns the lines of what is found. */
    const verified = () => {
      const format = "--format={{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
      const live = healthy(objects);
      for (const { metadata, status } of of(live, "Pod"))
        status.podIP = docker("inspect", format, id(/spool/.test(metadata.name) ? "spool" : "proxy"));
      const objectsOf = `\n== objects\n${JSON.stringify({ items: live })}\n`;
      const said = plan(parseFacts(objectsOf)).map((line) => {
        const [role = "", , more = ""] = line.split(" ");
        if (role === "get") return "";
        const program = readFileSync(`${root}/deploy/checks/cluster/ask${role === "proxy" ? "-proxy.sh" : ".mjs"}`);
        const command = role === "proxy" ? ["sh", "-s", "--", more] : ["node", "--input-type=module", "-", more];
        const run = ["exec", "-i", id(role), ...command];
        return `\n== ${role}\n${spawnSync("docker", run, { input: program, encoding: "utf8" }).stdout}\n`;
      });
      return check(parseFacts(objectsOf + said.join(""))).map(({ state, check: one, found, fix }) =>
        [`${state} ${one}`, found, fix].filter(Boolean).join(": "),
      );
    };

    test("make verify-cluster, asked in these pods, finds what is wrong in Docker", {
      timeout: 2 * timeout,
    }, async () => {
      // Docker enforces no policies.
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
      const run = ["run", "-d", label, `--network=${node.network}`, "--network-alias=ingest.elsewhere.example"];
      docker(...run, "--entrypoint=node", built("spool"), "-e", answers);
      const accepted = "ok envelope: the proxy accepted a probe envelope";
      await expect.poll(verified, { timeout }).toContain(accepted);
      const now = `
ok ingest: ingest.elsewhere.example:9000 \\(project 1\\) accepted a probe envelope
ok culvert-spool-1: writes to its volume; \\d+ envelopes queued`;
      expectLines(verified(), now);
    });

    test("a renewed certificate is served without a restart", async () => {
      const served = () => curl("-o", "/dev/null", "-w", "%{certs}", `https://${site}:8443/healthz`);
      expect(served()).toMatch(/Subject:CN ?= ?first/);
      writeSecret(node.volumes["proxy-tls"] ?? "", "second");
      await expect.poll(served).toMatch(/Subject:CN ?= ?second/);
    });

    describe("the shared cache of two replicas", () => {
      const names = ["web", "another web"] as const;
      const write = (name: string, body: string) =>
        inReplica(id(name), `await cache.set("front", page("${body}"), context);`);
      const read = (name: string) => inReplica(id(name), "console.log(await read());");
      const cli = (...command: string[]) => docker("exec", id("cache"), "valkey-cli", ...command);
      const withPassword = ["--no-auth-warning", "-a", "5ecret"];

      test("has for one replica what the other has rendered, until it is revalidated", { timeout }, async () => {
        start("web", "another web");
        await ready("web", "another web");
        const shared = () => {
          write("web", "as of today");
          return read("another web");
        };
        await expect.poll(shared).toBe("as of today");
        inReplica(id("web"), `await cache.revalidateTag("news");`);
        expect(read("another web")).toBe("nothing");
        write("another web", "as of tonight");
        expect(read("web")).toBe("as of tonight");
      });

      test("rejects clients without the password, has a memory limit, and writes nothing to disk", () => {
        expect(cli("dbsize")).toMatch(/NOAUTH/);
        expect(cli(...withPassword, "dbsize")).toMatch(/^[1-9]/);
        expect(docker("exec", id("cache"), "cat", "/proc/1/cmdline")).not.toContain("5ecret");
        const setting = (name: string) => cli(...withPassword, "config", "get", name).split("\n")[1] ?? "";
        const limit = Number(docker("inspect", "--format={{.HostConfig.Memory}}", id("cache")));
        expect(Number(setting("maxmemory"))).toBe(limit * 0.75);
        expect(["maxmemory-policy", "save", "appendonly"].map(setting)).toEqual(["allkeys-lru", "", "no"]);
      });

      test.each(["pause unpause", "kill start"])("may hang or be down (%s): pages are served", async (commands) => {
        const [command = "", undo = ""] = commands.split(" ");
        docker(command, id("cache"));
        for (const name of names) {
          expect(read(name)).toBe("nothing");
          await ready("web", name);
        }
        docker(undo, id("cache"));
      });
    });
  },
);
