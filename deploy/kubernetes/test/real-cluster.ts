// Tests chart and images in a cluster: `make test-cluster CONTEXT=<context>`. In a namespace of its own, which it removes, under Pod
// Security `restricted`: install, helm test, verify-cluster, then releases and faults under requests and envelopes. Status 1 if an
// envelope is lost, a release or restarted spools fail a request, a release takes a page to another one, or a check has a `!`. Needs Node
// 24, kubectl, openssl, and a default StorageClass.
// REGISTRY and TAG name the images of proxy and spool, WEB_TAGS two releases of web. DRAIN=<node> drains it, of these pods only.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makePair } from "../../test/support/certificate.ts";
import { ingest, visitor } from "./lib/in-cluster.ts";

const { CONTEXT, REGISTRY = "registry.example.com", TAG = "1.0.0", WEB_TAGS = "0.9.0 1.0.0", DRAIN = "" } = process.env;
const [before, after] = WEB_TAGS.split(" ");
const chart = join(import.meta.dirname, "..");
const [work, namespace] = [mkdtempSync(join(tmpdir(), "culvert-")), `culvert-test-${Date.now().toString(36)}`];
const dsn = `http://key@ingest.${namespace}.svc.cluster.local:9000/1`;

const output = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 64 << 20 });
const show = (command: string, ...args: string[]) => {
  execFileSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
};
const k = (...args: string[]) => show("kubectl", "-n", namespace, ...args);
const apply = (...objects: object[]) =>
  execFileSync("kubectl", ["-n", namespace, "apply", "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  });
const told = (name: string, path: string) => {
  const code = `fetch("http://127.0.0.1:9001${path}").then(async (r) => console.log(await r.text()))`;
  return JSON.parse(output("kubectl", "-n", namespace, "exec", name, "--", "node", "-e", code));
};
/** A pod that runs this function, not on the node that is drained. */
const podOf = (run: typeof ingest) => {
  const away = { key: "kubernetes.io/hostname", operator: "NotIn", values: [DRAIN] };
  const nodes = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [away] }] },
  };
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const code = `const { createServer } = require("http"), { request } = require("https"); (${run})()`;
  const image = `${REGISTRY}/culvert-spool:${TAG}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: run.name, labels: { test: run.name } },
    spec: {
      affinity: { nodeAffinity: nodes },
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      containers: [{ name: "test", image, command: ["node", "-e", code], securityContext }],
    },
  };
};

const table: Record<string, Record<string, number | string>> = {};
let isWrong = false;
/** How many requests may fail, and how many pages may reach another release. */
interface Bounds {
  failed?: number;
  other?: number;
}
/** Does something under requests, waits for the envelopes, and adds a row to the table. */
async function under(name: string, does: () => Promise<void> | void, bounds: Bounds = {}) {
  console.log(`\n== ${name}`);
  told("visitor", "/start");
  await does();
  await pause(5_000);
  const { requests, failed, other, accepted } = told("visitor", "/stop");
  const counts = () => {
    const ids: Record<string, number> = told("ingest", "/ids");
    const arrived: number[] = accepted.map((id: string) => ids[id] ?? 0);
    return { lost: arrived.filter((n) => n === 0).length, twice: arrived.filter((n) => n > 1).length };
  };
  for (const end = Date.now() + 300_000; counts().lost > 0 && Date.now() < end; ) await pause(5_000);
  const { lost, twice } = counts();
  const failures = Object.values<number>(failed).reduce((sum, n) => sum + n, 0);
  const why = Object.entries(failed).map(([answer, n]) => `${n} × ${answer}`);
  const counted = { requests, failed: failures, other, accepted: accepted.length, twice, lost };
  table[name] = { ...counted, why: why.join(", ") };
  if (lost > 0 || failures > (bounds.failed ?? failures) || other > (bounds.other ?? other)) isWrong = true;
}

const release = (helm: string, old: string, tag: string) => {
  const image = (name: string, tag: string) => ({ repository: `${REGISTRY}/culvert-${name}`, tag });
  const values = {
    // By which a drain finds these pods only.
    commonLabels: { "culvert-test": namespace },
    settings: { SERVER_NAME: "app.test", SENTRY_ENVIRONMENT: "test", CONSOLE: "on" },
    proxy: { image: image("proxy", TAG), replicas: 2, autoscaling: { enabled: false }, service: { type: "ClusterIP" } },
    web: {
      image: image("web", tag),
      previousRelease: { image: { tag: old } },
      replicas: 2,
      autoscaling: { enabled: false },
    },
    spool: { image: image("spool", TAG) },
    networkPolicy: {
      defaultDeny: true,
      ingest: [
        { to: [{ podSelector: { matchLabels: { test: "ingest" } } }], ports: [{ protocol: "TCP", port: 9000 }] },
      ],
    },
  };
  writeFileSync(join(work, "values.json"), JSON.stringify(values));
  const options = ["--namespace", namespace, "--values", join(work, "values.json"), "--wait", "--timeout", "15m"];
  show(helm, "upgrade", "--install", "culvert", join(work, "culvert-0.0.1.tgz"), ...options);
};

async function main() {
  writeFileSync(process.env.KUBECONFIG as string, kubeconfig, { mode: 0o600 });
  const helm = output("sh", join(chart, "helm.sh")).trim();
  show(helm, "package", chart, "--version", "0.0.1", "--app-version", TAG, "--destination", work);
  show("kubectl", "create", "namespace", namespace);
  k("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  makePair(join(work, "tls"), ["app.test"]);
  k("create", "secret", "tls", "proxy-tls", `--cert=${work}/tls.crt`, `--key=${work}/tls.key`);
  k("create", "secret", "generic", "sentry", `--from-literal=dsn=${dsn}`);
  const podSelector = { matchExpressions: [{ key: "test", operator: "Exists" }] };
  apply(
    podOf(ingest),
    podOf(visitor),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "ingest" },
      spec: { selector: { test: "ingest" }, ports: [{ port: 9000 }] },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "test" },
      spec: { podSelector, policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] },
    },
  );
  k("wait", "--for=condition=Ready", "pod", "-l", "test", "--timeout=5m");

  release(helm, "", before as string);
  show(helm, "test", "culvert", "--namespace", namespace, "--logs");
  const env = { ...process.env, NAMESPACE: namespace };
  const verify = spawnSync("sh", [join(chart, "../checks/cluster/verify.sh")], { env, encoding: "utf8" });
  console.log(verify.stdout + verify.stderr);
  if (verify.status !== 0 || /^[!✗]/m.test(verify.stdout)) isWrong = true;

  const rolled = (...names: string[]) => {
    for (const name of names) k("rollout", "status", name, "--timeout=10m");
  };
  const away = async (does: () => void) => {
    told("ingest", "/down");
    does();
    rolled("statefulset/culvert-spool");
    await pause(5_000);
    told("ingest", "/up");
  };
  await under("release", () => release(helm, before as string, after as string), { failed: 0, other: 2 });
  await under(
    "rollback",
    // Back to a release without a previous one: pages of the current one have no set.
    () => show(helm, "rollback", "culvert", "-n", namespace, "--wait", "--timeout", "15m"),
    { failed: 0 },
  );
  await under("ingest away, a spool deleted", () => away(() => k("delete", "pod", "culvert-spool-0")));
  const restart = () => k("rollout", "restart", "statefulset/culvert-spool");
  await under("ingest away, spools restarted", () => away(restart), { failed: 0 });
  if (DRAIN)
    try {
      const ours = [`--pod-selector=culvert-test=${namespace}`, "--ignore-daemonsets", "--delete-emptydir-data"];
      await under(`${DRAIN} drained`, () => {
        k("drain", DRAIN, ...ours, "--timeout=10m");
        rolled("deployment/culvert-proxy", "deployment/culvert-web");
      });
    } finally {
      k("uncordon", DRAIN);
    }
  console.table(table);
}

if (!CONTEXT) {
  console.error("CONTEXT is not set: name one of `kubectl config get-contexts -o name`");
  process.exit(1);
}
const kubeconfig = output("kubectl", "config", "view", "--raw", "--minify", "--flatten", "--context", CONTEXT);
process.env.KUBECONFIG = join(work, "kubeconfig");
const clean = () => {
  show("kubectl", "delete", "namespace", namespace, "--ignore-not-found");
  rmSync(work, { recursive: true });
};
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    clean();
    process.exit(1);
  });
try {
  await main();
} finally {
  clean();
}
process.exitCode = isWrong ? 1 : 0;
