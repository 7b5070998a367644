import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { expire, makePair } from "../../test/support/certificate.ts";
import { rendering } from "./lib/chart.ts";
import { built, hasImages, useNode } from "./lib/kubelet.ts";
import { temporaryFolder } from "./lib/objects.ts";

const answers = {
  page: "200",
  unknown: "404",
  robots: "noindex",
  envelope: "200",
  foreign: "403",
  outcome: "accepted",
};

const site = (listen: string, { page, unknown, robots, envelope, foreign, outcome }: typeof answers) => `
events {}
http {
  server {
    listen 8083;
    add_header X-Envelope-Outcome ${outcome};
    return 200;
  }
  server {
    listen ${listen};
    location / { return ${page}; }
    location /monitoring {
      if ($arg_o) { return ${foreign}; }
      return ${envelope};
    }
    location /culvert-test-no-such-page {
      add_header X-Robots-Tag ${robots} always;
      return ${unknown};
    }
  }
}`;

describe.skipIf(!hasImages("proxy"))("helm test", () => {
  const folder = temporaryFolder();
  const sentry = { dsn: "https://key@sentry.example.com/2" };
  const node = useNode("helm-test", { sentry });
  beforeAll(() => {
    chmodSync(folder, 0o755);
    for (const name of ["good", "expired", "other", "private"])
      makePair(join(folder, name), [name === "other" ? "other.example.com" : "app.example.com"]);
    expire(join(folder, "expired"));
    const trusted = ["good", "expired", "other"].map((name) => readFileSync(join(folder, `${name}.crt`)));
    writeFileSync(join(folder, "trusted.crt"), Buffer.concat(trusted));
  });

  /** What is printed if all is well; an empty line is not there. */
  const fine = {
    certificate: "",
    proxy: "",
    page: "✓ status 200",
    "unknown page": "✓ status 404, not indexed",
    envelope: "✓ status 200",
    "foreign envelope": "✓ status 403",
    ingest: "",
  };
  interface Case {
    what: string;
    /** By default production. */
    values?: string;
    /** The pair of its server, by default the good one. Empty: no server. */
    pair?: string;
    fault?: Partial<typeof answers>;
    exit?: number;
    lines?: Partial<typeof fine>;
  }
  const cases: Case[] = [
    { what: "a good site" },
    { what: "a site behind a front", values: "ingress" },
    { what: "a site behind a load balancer with the PROXY protocol", values: "PROXY protocol" },
    {
      what: "the tunnel alone",
      values: "tunnel alone",
      fault: { page: "404" },
      lines: { proxy: "✓ status 404", page: "", "unknown page": "" },
    },
    {
      what: "a private CA, an app with an answer for every path, an ingest that is down",
      pair: "private",
      fault: { unknown: "200", outcome: "queued" },
      lines: {
        certificate: "! from a CA that public clients do not know",
        "unknown page": "- status 200: the app has an answer for every path",
        ingest: "! does not accept envelopes, which are queued: make verify-cluster says why",
      },
    },
    {
      what: "wrong answers",
      fault: { page: "503", robots: "all", envelope: "403", foreign: "200" },
      exit: 1,
      lines: {
        page: "✗ status 503: kubectl logs -l app.kubernetes.io/name=web",
        "unknown page": "✗ status 404 without X-Robots-Tag: noindex",
        envelope: "✗ status 403, not 200",
        "foreign envelope": "✗ status 200, not 403",
      },
    },
    {
      what: "an expired certificate",
      pair: "expired",
      exit: 1,
      lines: { certificate: "✗ has expired: renew it in the Secret that the proxy mounts" },
    },
    {
      what: "a certificate for another name",
      pair: "other",
      exit: 1,
      lines: { certificate: "✗ is not for app.example.com" },
    },
    {
      what: "a front that is not trusted",
      values: "ingress",
      fault: { page: "308 https://$host/" },
      exit: 1,
      lines: { page: "✗ redirected to HTTPS: TRUSTED_PROXIES must have the cluster's pod range" },
    },
    {
      what: "no pod",
      pair: "",
      exit: 1,
      lines: {
        page: "✗ no answer from culvert-proxy: curl's exit status 7",
        "unknown page": "- not checked: status 000",
        envelope: "✗ status 000, not 200",
        "foreign envelope": "✗ status 000, not 403",
      },
    },
  ];
  test.each(cases)("$what", ({ what, values = "production", pair = "good", fault, exit = 0, lines }) => {
    // Without a pair, a pod that does not listen on the port of the Service.
    const port = /ingress|alone/.test(values) ? 80 : pair ? 443 : 44;
    const tls = `ssl ${values === "PROXY protocol" ? "proxy_protocol" : ""}; ssl_certificate /site/${pair}.crt; ssl_certificate_key /site/${pair}.key`;
    writeFileSync(join(folder, `${what}.conf`), site(`${port} ${port === 443 ? tls : ""}`, { ...answers, ...fault }));
    const server = {
      image: built("proxy"),
      user: "0:0",
      entrypoint: ["nginx", "-g", "daemon off;", "-c", `/site/${what}.conf`],
      volumes: [`${folder}:/site:ro`],
      networks: { default: { aliases: ["culvert-server-tunnel.culvert.svc.cluster.local"] } },
    };
    const test = ["CMD", "bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`];
    node.services["culvert-proxy"] = { ...server, healthcheck: { test, start_interval: "200ms", start_period: "1h" } };
    node.run(["up", "--detach", "--wait", "--timeout=0", "culvert-proxy"]);
    const pod = node.addPod(rendering(values), "test");
    pod.volumes.push(...server.volumes);
    pod.environment.SSL_CERT_FILE = "/site/trusted.crt";
    const { status, stdout } = node.compose(["run", "--rm", "--no-TTY", "test"]);
    const printed = Object.entries({ ...fine, ...lines }).filter(([, text]) => text);
    const expected = printed.map(([key, text]) => `${text[0]} ${key.padEnd(16)} ${text.slice(2)}`);
    expect({ status, lines: stdout.trim().split("\n") }).toEqual({ status: exit, lines: expected });
  });
});
