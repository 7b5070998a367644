import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFacts, plan } from "../../checks/cluster/facts.ts";
import { check } from "../../checks/cluster/verify.ts";
import { label } from "../../test/support/docker.ts";
import { hasHelm, rendering } from "./lib/chart.ts";
import { healthy } from "./lib/cluster.ts";
import { buildFrom, built, docker, hasImages, waitFor } from "./lib/docker.ts";
import { ended, isReady, type Node, startPod, startTimeout } from "./lib/kubelet.ts";
import { find, of, podLabels, podOf, type Resource } from "./lib/objects.ts";
import { root } from "./lib/paths.ts";

const site = "app.example.com";

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

describe.skipIf(!hasHelm || !hasImages("proxy", "web", "spool"))(
  "production's pods, run in Docker by their manifests",
  () => {
    let objects: Resource[];
    const node: Node = {
      network: `culvert-pods-${process.pid}`,
      secrets: { sentry: { dsn: "http://culvert@ingest.elsewhere.example:9000/1" } },
      volumes: { "proxy-tls": `culvert-pods-tls-${process.pid}` },
      options: ["--network-alias=kubernetes.default.svc"],
      scratch: [],
    };
    const ids: Record<string, string> = {};
    const start = (name: string) => {
      ids[name] = startPod(objects, name, node);
    };
    const imageOf = (name: string): string => podOf(objects, name).containers[0].image;
    const ready = (name: string) => expect.poll(() => isReady(objects, name, ids[name] ?? "")).toBe(true);
    const curl = (...args: string[]) =>
      docker("exec", ids.proxy ?? "", "curl", "-sSk", "--resolve", `${site}:8443:127.0.0.1`, ...args);

    beforeAll(() => {
      objects = rendering("production");
      docker("network", "create", label, node.network);
      docker("volume", "create", label, node.volumes["proxy-tls"] ?? "");
      writeSecret(node.volumes["proxy-tls"] ?? "", "first");
      node.images = { [imageOf("web-previous")]: buildFrom(previousRelease) };
    });
    afterAll(() => {
      docker("rm", "-f", "-v", ...Object.values(ids));
      docker("network", "rm", node.network);
      docker("volume", "rm", ...Object.values(node.volumes), ...node.scratch);
    });

    test("the proxy starts without the others, and is not ready before web is", {
      timeout: 2 * startTimeout,
    }, async () => {
      start("proxy");
      await expect
        .poll(() => docker("exec", ids.proxy ?? "", "curl", "-sS", "http://127.0.0.1:8081/healthz"), {
          timeout: 600_000,
        })
        .toBe("ok");
      expect(isReady(objects, "proxy", ids.proxy ?? "")).toBe(false);
      start("web");
      start("spool");
      await ready("web");
      await ready("spool");
      await ready("proxy");
    });

    test("a new proxy serves files of the previous release, which web's image no longer contains", () => {
      const response = (file: string) => curl("-w", " %{http_code}", `https://${site}:8443/_next/static/${file}`);
      expect(response("chunks/of-the-old-release.js")).toBe("old(); 200");
      expect(response("chunks/of-no-release.js")).toMatch(/ 404$/);
      const [own = ""] = docker("exec", ids.web ?? "", "ls", "/app/.next/static/chunks").split("\n");
      expect(response(`chunks/${own}`)).toMatch(/ 200$/);
    });

    /** Which deployment a page of this one reaches, by a navigation of Next's router. */
    const reached = (deployment: string) =>
      /^x-nextjs-deployment-id: (\S+)/m.exec(
        curl("-o/dev/null", "-D-", "-HRSC: 1", `-HX-Deployment-Id: ${deployment}`, `https://${site}:8443/`),
      )?.[1];
    const deploymentOf = (name: string) => docker("exec", ids[name] ?? "", "cat", "/app/.next/BUILD_ID");
    const timeoutOptions = { timeout: startTimeout };

    test("an open page of the previous release reaches it, others the new one", timeoutOptions, async () => {
      start("web-previous");
      await ready("web-previous");
      const [old, current] = [deploymentOf("web-previous"), deploymentOf("web")];
      expect(old).not.toBe(current);
      await expect.poll(() => reached(old), timeoutOptions).toBe(old);
      expect([reached(current), reached("gone")]).toEqual([current, current]);
      const release = (name: string) => docker("exec", ids[name] ?? "", "printenv", "SENTRY_RELEASE");
      expect([release("web-previous"), release("web")]).toEqual(["0.9.0", "1.0.0"]);
    });

    test("while a rollout replaces pods of web, each page reaches its release", timeoutOptions, async () => {
      const [old, current] = [deploymentOf("web-previous"), deploymentOf("web")];
      const before = structuredClone(objects);
      const { template } = find(before, "Deployment", "web").spec;
      template.metadata.labels = { ...podLabels(before, "web-previous"), "app.kubernetes.io/name": "web" };
      template.spec.containers[0].image = imageOf("web-previous");
      ids["web-old"] = startPod(before, "web", node);
      await expect.poll(() => isReady(before, "web", ids["web-old"] ?? "")).toBe(true);
      // Both answer pages that name no release, which is what the proxy must not do with those that name one.
      const answers = () => new Set(Array.from({ length: 12 }, () => reached("gone")));
      await expect.poll(answers, timeoutOptions).toEqual(new Set([old, current]));
      const all = (deployment: string) => new Set(Array.from({ length: 12 }, () => reached(deployment)));
      await expect.poll(() => [all(old), all(current)], timeoutOptions).toEqual([new Set([old]), new Set([current])]);
      docker("rm", "-f", "-v", ids["web-old"] ?? "");
      expect([all(old), all(current)]).toEqual([new Set([old]), new Set([current])]);
    });

    /** Asks these pods as verify.sh does, and returns the lines of what is found. */
    const verified = () => {
      const format = "--format={{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
      const live = healthy(objects);
      for (const { metadata, status } of of(live, "Pod"))
        status.podIP = docker("inspect", format, ids[/spool/.test(metadata.name) ? "spool" : "proxy"] ?? "");
      const objectsOf = `\n== objects\n${JSON.stringify({ items: live })}\n`;
      const said = plan(parseFacts(objectsOf)).map((line) => {
        const [role = "", , more = ""] = line.split(" ");
        if (role === "get") return "";
        const program = readFileSync(`${root}/deploy/checks/cluster/ask${role === "proxy" ? "-proxy.sh" : ".mjs"}`);
        const command = role === "proxy" ? ["sh", "-s", "--", more] : ["node", "--input-type=module", "-", more];
        const run = ["exec", "-i", ids[role] ?? "", ...command];
        return `\n== ${role}\n${spawnSync("docker", run, { input: program, encoding: "utf8" }).stdout}\n`;
      });
      return check(parseFacts(objectsOf + said.join(""))).map(({ state, check: one, found, fix }) =>
        [`${state} ${one}`, found, fix].filter(Boolean).join(": "),
      );
    };

    test("make verify-cluster, asked in these pods, finds what is wrong in Docker", {
      timeout: startTimeout,
    }, async () => {
      const before = verified();
      for (const line of [
        expect.stringMatching(/^ok proxy → culvert-web: /),
        expect.stringMatching(/^ok proxy → culvert-web-all: /),
        expect.stringMatching(/^ok proxy → culvert-spool-headless: /),
        expect.stringMatching(/^ok proxy → culvert-spool: /),
        expect.stringMatching(/^failed ingest: .* does not resolve/),
        expect.stringMatching(/^skipped envelopes: /),
        expect.stringMatching(/^ok web → culvert-server-tunnel: /),
        expect.stringMatching(/^ok web → culvert-spool-headless: /),
        "ok metrics: available",
        // Docker enforces no policies.
        expect.stringMatching(/^failed network policies: not enforced: web reaches the proxy's port for probes/),
      ])
        expect(before).toContainEqual(line);

      // Then with an ingest. The proxy asks for its address again every few seconds.
      const answers =
        "http.createServer((request, response) => request.resume().on('end', () => response.end())).listen(9000)";
      ids.ingest = docker(
        ...["run", "-d", label, `--network=${node.network}`, "--network-alias=ingest.elsewhere.example"],
        ...["--entrypoint=node", built("spool"), "-e", answers],
      );
      let now: string[] = [];
      const all = () => {
        now = verified();
        return now;
      };
      await expect.poll(all, { timeout: startTimeout }).toContain("ok envelope: the proxy accepted a probe envelope");
      for (const line of [
        "ok ingest: ingest.elsewhere.example:9000 (project 1) accepted a probe envelope",
        expect.stringMatching(/^ok culvert-spool-1: writes to its volume; \d+ envelopes queued$/),
      ])
        expect(now).toContainEqual(line);
    });

    test("helm test asks the site as a visitor does", { timeout: startTimeout }, () => {
      // Docker has no Service that translates ports.
      const forward = `const net = require("net");
        net.createServer((one) => {
          const two = net.connect(8443, process.argv[1]);
          for (const end of [one, two]) end.on("error", () => {});
          one.pipe(two).pipe(one);
        }).listen(443)`;
      ids.service = docker(
        ...["run", "-d", label, `--network=${node.network}`, "--network-alias=culvert-proxy", "--entrypoint=node"],
        ...[built("spool"), "-e", forward, "culvert-server-tunnel.culvert.svc.cluster.local"],
      );
      waitFor(ids.service, 443);
      ids.test = startPod(objects, "test", node);
      expect(ended(ids.test)).toEqual({
        status: 0,
        lines: [
          "! certificate      from a CA that public clients do not know",
          "✓ page             status 404",
          "✓ unknown page     status 404, not indexed",
          "✓ envelope         status 200",
          "✓ foreign envelope status 403",
        ],
      });
    });

    test("a renewed certificate is served without a restart", async () => {
      const served = () => curl("-o", "/dev/null", "-w", "%{certs}", `https://${site}:8443/healthz`);
      expect(served()).toMatch(/Subject:CN ?= ?first/);
      writeSecret(node.volumes["proxy-tls"] ?? "", "second");
      await expect.poll(served).toMatch(/Subject:CN ?= ?second/);
    });
  },
);
