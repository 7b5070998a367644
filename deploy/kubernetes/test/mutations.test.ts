import { beforeAll, describe, expect, test } from "vitest";
import { type Change, find, set } from "./lib/mutate.ts";
import type { Resource } from "./lib/objects.ts";
import { canRender, rendering } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";
import { rules } from "./rules/index.ts";

const pod = "spec.template.spec";
const container = `${pod}.containers.0`;
const spread = `${pod}.topologySpreadConstraints`;
const [web, proxy] = ["Deployment/web", "Deployment/proxy"];
const testRun = "TestRun/loadtest";
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "sentry" }, stringData: { dsn: "x" } } as Resource;

/** The rule that must fail, a description of the mutation, and the mutation. */
const mutations: [rule: keyof typeof rules, what: string, change: Change][] = [
  [
    "restrictedPodSecurity",
    "web may gain privileges",
    set(web, `${container}.securityContext.allowPrivilegeEscalation`),
  ],
  ["restrictedPodSecurity", "proxy is root", set(proxy, `${pod}.securityContext.runAsUser`, 0)],
  [
    "restrictedPodSecurity",
    "web mounts the node's disk",
    set(web, `${pod}.volumes.1`, { name: "host", hostPath: { path: "/" } }),
  ],
  [
    "namespaceEnforcesRestricted",
    "the namespace only warns",
    set("Namespace/culvert", "metadata.labels.pod-security~kubernetes~io/enforce"),
  ],
  ["rootFilesystemsAreReadOnly", "web's is writable", set(web, `${container}.securityContext.readOnlyRootFilesystem`)],
  ["noServiceAccountTokens", "web gets a token", set(web, `${pod}.automountServiceAccountToken`)],
  ["requestsAndLimits", "no memory limit", set(web, `${container}.resources.limits.memory`)],
  ["requestsAndLimits", "web's init container has none", set(web, `${pod}.initContainers.0.resources`, {})],
  ["probes", "proxy has no readiness probe", set(proxy, `${container}.readinessProbe`)],
  ["probes", "a probe of a port that does not exist", set(proxy, `${container}.livenessProbe.httpGet.port`, "nowhere")],
  ["probes", "a probe that starts a process", set(web, `${container}.livenessProbe`, { exec: { command: ["true"] } })],
  ["imagesArePinned", "tag latest", set(web, `${container}.image`, "registry.example.com:5000/web:latest")],
  ["imagesArePinned", "no tag", set(proxy, `${container}.image`, "registry.example.com:5000/proxy")],
  ["imagesArePinned", "k6-operator's default image", set(testRun, "spec.starter.image")],
  [
    "variablesAreDefinedBeforeUse",
    "the namespace is defined too late",
    set(proxy, `${container}.env.0`, { name: "FIRST", value: "$(POD_NAMESPACE)" }),
  ],
  ["volumesAreBounded", "a mount without a volume", set(web, `${pod}.volumes`, [])],
  ["volumesAreBounded", "files in memory without a limit", set(web, `${pod}.volumes.1.emptyDir.sizeLimit`)],
  ["noSubPathMounts", "a certificate mounted by subPath", set(proxy, `${container}.volumeMounts.0.subPath`, "tls.crt")],
  ["servicesReachPods", "web's Service selects another label", set("Service/web", "spec.selector.tier", "web")],
  ["servicesReachPods", "proxy's port is renamed", set(proxy, `${container}.ports.0.name`, "tls")],
  ["servicesReachPods", "a headless Service translates ports", set("Service/web", "spec.ports.0.port", 80)],
  ["addressesNameServices", "web's Service has another name", set("Service/web", "metadata.name", "app")],
  ["recommendedLabels", "web's pods lack one", set(web, "spec.template.metadata.labels.app~kubernetes~io/part-of")],
  [
    "referencesExist",
    "settings of another hash",
    set(web, `${container}.envFrom.0.configMapRef.name`, "telemetry-settings-0"),
  ],
  ["referencesExist", "an undocumented Secret", set(web, `${container}.env.3.valueFrom.secretKeyRef.name`, "dsn")],
  ["referencesExist", "a key that the Secret lacks", set(web, `${container}.env.3.valueFrom.secretKeyRef.key`, "DSN")],
  ["autoscalersOwnReplicas", "the Deployment sets replicas, too", set(web, "spec.replicas", 3)],
  [
    "autoscalersOwnReplicas",
    "a target that does not exist",
    set("HorizontalPodAutoscaler/web", "spec.scaleTargetRef.name", "app"),
  ],
  ["budgetsAllowDrains", "no pod may be evicted", set("PodDisruptionBudget/proxy", "spec.maxUnavailable", 0)],
  ["budgetsAllowDrains", "all pods must stay", set("PodDisruptionBudget/web", "spec.minAvailable", 3)],
  ["rolloutsKeepCapacity", "one pod stops first", set(web, "spec.strategy.rollingUpdate.maxUnavailable", 1)],
  ["rolloutsKeepCapacity", "all pods stop first", set(web, "spec.strategy", { type: "Recreate" })],
  ["statefulSetsHaveOnePod", "two spools", set("StatefulSet/spool", "spec.replicas", 2)],
  [
    "statefulSetsHaveOnePod",
    "a spool that cannot start is never replaced",
    set("StatefulSet/spool", "spec.podManagementPolicy"),
  ],
  ["podsSpreadOverNodes", "web's spread is not enforced", set(web, `${spread}.0.whenUnsatisfiable`, "ScheduleAnyway")],
  ["podsSpreadOverNodes", "three web on one node", set(web, `${spread}.0.maxSkew`, 3)],
  ["podsSpreadOverNodes", "lost nodes are counted", set(proxy, `${spread}.0.nodeTaintsPolicy`)],
  ["podsSpreadOverNodes", "pods of the old release are counted", set(proxy, `${spread}.0.matchLabelKeys`)],
  ["rolloutsWaitForTermination", "faster than pods terminate", set(web, "spec.minReadySeconds", 10)],
  [
    "rolloutsWaitForTermination",
    "faster than pods terminate, with another CPU request",
    (all) => {
      set(web, "spec.minReadySeconds", 10)(all);
      set(web, `${container}.resources.requests.cpu`, "750m")(all);
    },
  ],
  [
    "controllersHaveRestartLabel",
    "the spool has no label",
    set("StatefulSet/spool", "metadata.labels.app~kubernetes~io/part-of"),
  ],
  ["storedAsWritten", "an empty list", set("NetworkPolicy/web", "spec.egress", [])],
  ["storedAsWritten", "an empty value", set(web, `${container}.env.0`, { name: "EMPTY", value: "" })],
  ["storedAsWritten", "a quantity", set(web, `${container}.resources.limits.memory`, "1024Mi")],
  ["storedAsWritten", "false, which is a default", set(web, `${pod}.hostNetwork`, false)],
  ["noSecretsInManifests", "web's DSN", set(web, `${container}.env.3.value`, "https://k@o1.ingest.sentry.io/2")],
  ["noSecretsInManifests", "a Secret with content", (all) => all.push(secret)],
];

describe.skipIf(!canRender)("mutated manifests", () => {
  let valid: Resource[];
  beforeAll(() => {
    const testRuns = rendering("base + loadtest").filter(({ kind }) => kind === "TestRun");
    valid = [...rendering("production"), ...testRuns];
  });

  test.each(mutations)("%s: %s", (rule, _, change) => {
    const objects = structuredClone(valid);
    expect(rules[rule](objects)).toEqual([]);
    change(objects);
    expect(rules[rule](objects)).not.toEqual([]);
  });

  test("every rule has a mutation that it finds", () => {
    expect(Object.keys(rules).filter((rule) => !mutations.some(([name]) => name === rule))).toEqual([]);
  });

  test("an unknown field is found in any object", async () => {
    for (const object of valid) {
      expect(await schemaProblems({ ...object, sepc: {} } as Resource)).toEqual([
        "/sepc: the schema has no such field",
      ]);
    }
  });

  test.each<[what: string, change: Change, problem: string]>([
    ["with a typo", set(testRun, "spec.paralelism", 2), "/spec/paralelism: the schema has no such field"],
    [
      "with a field that only pods have",
      set(testRun, "spec.runner.command", []),
      "/spec/runner/command: the schema has no such field",
    ],
    ["without parallelism", set(testRun, "spec.parallelism"), "/spec/parallelism is missing"],
  ])("a load test %s is found", async (_, change, problem) => {
    const objects = structuredClone(valid);
    change(objects);
    expect(await schemaProblems(find(objects, testRun))).toEqual([problem]);
  });
});
