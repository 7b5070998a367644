import { beforeAll, describe, expect, test } from "vitest";
import { type Change, find, set } from "./lib/mutate.ts";
import type { Resource } from "./lib/objects.ts";
import { canRender, rendering } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";
import { rules } from "./rules/index.ts";

const pod = "spec.template.spec";
const own = `${pod}.containers.0`;
const spread = `${pod}.topologySpreadConstraints`;
const [web, proxy] = ["Deployment/web", "Deployment/proxy"];
const [toIngest, blocks] = ["NetworkPolicy/to-ingest", "spec.egress.1.to"];
const testRun = "TestRun/loadtest";
const labels = { "app.kubernetes.io/name": "proxy" };
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "sentry" }, stringData: { dsn: "x" } } as Resource;

/** The rule that must turn red, what a reviewer would have had to notice, and the change that makes it so. */
const breaks: [rule: keyof typeof rules, what: string, change: Change][] = [
  ["restrictedPodSecurity", "web may gain privileges", set(web, `${own}.securityContext.allowPrivilegeEscalation`)],
  ["restrictedPodSecurity", "proxy is root", set(proxy, `${pod}.securityContext.runAsUser`, 0)],
  ["restrictedPodSecurity", "the node's disk", set(web, `${pod}.volumes.1`, { name: "host", hostPath: { path: "/" } })],
  [
    "namespaceEnforcesRestricted",
    "it warns",
    set("Namespace/culvert", "metadata.labels.pod-security~kubernetes~io/enforce"),
  ],
  ["rootFilesystemsAreReadOnly", "web's is not", set(web, `${own}.securityContext.readOnlyRootFilesystem`)],
  ["podsHoldNoToken", "web gets one", set(web, `${pod}.automountServiceAccountToken`)],
  ["requestsAndLimits", "no memory limit", set(web, `${own}.resources.limits.memory`)],
  ["requestsAndLimits", "what runs before web has none", set(web, `${pod}.initContainers.0.resources`, {})],
  ["probes", "proxy is not asked whether it is ready", set(proxy, `${own}.readinessProbe`)],
  ["probes", "a port that is not there is asked", set(proxy, `${own}.livenessProbe.httpGet.port`, "nowhere")],
  ["imagesArePinned", "the latest", set(web, `${own}.image`, "registry.example.com:5000/web:latest")],
  ["imagesArePinned", "no tag", set(proxy, `${own}.image`, "registry.example.com:5000/proxy")],
  ["imagesArePinned", "what k6-operator takes by itself", set(testRun, "spec.starter.image")],
  [
    "variablesAreDefinedBeforeUse",
    "the namespace comes too late",
    set(proxy, `${own}.env.0`, { name: "FIRST", value: "$(POD_NAMESPACE)" }),
  ],
  ["volumesFit", "a mount without a volume", set(web, `${pod}.volumes`, [])],
  ["volumesFit", "files in memory without a bound", set(web, `${pod}.volumes.1.emptyDir.sizeLimit`)],
  ["filesStayFresh", "a certificate by subPath", set(proxy, `${own}.volumeMounts.0.subPath`, "tls.crt")],
  ["servicesReachPods", "another label is selected", set("Service/web", "spec.selector.tier", "web")],
  ["servicesReachPods", "proxy renames its port", set(proxy, `${own}.ports.0.name`, "tls")],
  ["servicesReachPods", "a headless Service translates ports", set("Service/web", "spec.ports.0.port", 80)],
  ["addressesLeadToServices", "web's Service has another name", set("Service/web", "metadata.name", "app")],
  ["selectorsAreDistinct", "web selects proxy's pods", set(web, "spec.selector.matchLabels", labels)],
  ["oneNamespace", "web is in default", set(web, "metadata.namespace", "default")],
  ["applyOrder", "the namespace comes last", (all) => all.push(...all.splice(0, 1))],
  ["recommendedLabels", "web's pods lack one", set(web, "spec.template.metadata.labels.app~kubernetes~io/part-of")],
  ["noTwins", "two Services web", (all) => all.push(find(all, "Service/web"))],
  [
    "referencesExist",
    "settings of another hash",
    set(web, `${own}.envFrom.0.configMapRef.name`, "telemetry-settings-0"),
  ],
  ["referencesExist", "a Secret nobody is told to create", set(web, `${own}.env.3.valueFrom.secretKeyRef.name`, "dsn")],
  ["referencesExist", "a key that the Secret lacks", set(web, `${own}.env.3.valueFrom.secretKeyRef.key`, "DSN")],
  ["serviceAccountsExist", "web's does not", set(web, `${pod}.serviceAccountName`, "next")],
  ["autoscalersOwnTheNumber", "so does the Deployment", set(web, "spec.replicas", 3)],
  ["autoscalersOwnTheNumber", "of nothing", set("HorizontalPodAutoscaler/web", "spec.scaleTargetRef.name", "app")],
  ["budgetsLetNodesDrain", "none may be moved", set("PodDisruptionBudget/proxy", "spec.maxUnavailable", 0)],
  ["budgetsLetNodesDrain", "all must stay", set("PodDisruptionBudget/web", "spec.minAvailable", 3)],
  ["rolloutsKeepCapacity", "one stops first", set(web, "spec.strategy.rollingUpdate.maxUnavailable", 1)],
  ["rolloutsKeepCapacity", "all stop first", set(web, "spec.strategy", { type: "Recreate" })],
  ["statefulIsSingle", "two spools", set("StatefulSet/spool", "spec.replicas", 2)],
  ["statefulIsSingle", "a spool that can't start stays", set("StatefulSet/spool", "spec.podManagementPolicy")],
  [
    "anyNodeMayBeLost",
    "web spreads only where it is easy",
    set(web, `${spread}.0.whenUnsatisfiable`, "ScheduleAnyway"),
  ],
  ["anyNodeMayBeLost", "three web on one node", set(web, `${spread}.0.maxSkew`, 3)],
  ["anyNodeMayBeLost", "lost nodes count", set(proxy, `${spread}.0.nodeTaintsPolicy`)],
  ["anyNodeMayBeLost", "the old release's pods count", set(proxy, `${spread}.0.matchLabelKeys`)],
  ["rolloutsFitTheNodes", "faster than pods leave", set(web, "spec.minReadySeconds", 10)],
  [
    "rolloutsFitTheNodes",
    "faster than pods leave, of another size",
    (all) => {
      set(web, "spec.minReadySeconds", 10)(all);
      set(web, `${own}.resources.requests.cpu`, "750m")(all);
    },
  ],
  ["restartedByLabel", "the spool is not", set("StatefulSet/spool", "metadata.labels.app~kubernetes~io/part-of")],
  ["storedAsWritten", "an empty list", set("NetworkPolicy/web-to-apis", "spec.egress", [])],
  ["storedAsWritten", "an empty value", set(web, `${own}.env.0`, { name: "EMPTY", value: "" })],
  ["storedAsWritten", "a quantity", set(web, `${own}.resources.limits.memory`, "1024Mi")],
  ["storedAsWritten", "a default", set(web, `${pod}.hostNetwork`, false)],
  ["noSecretIsWrittenDown", "the DSN is", set(web, `${own}.env.3.value`, "https://k@o1.ingest.sentry.io/2")],
  ["noSecretIsWrittenDown", "a Secret with content", (all) => all.push(secret)],
  ["exceptionsLieWithin", "IPv4, written as IPv6", set(toIngest, `${blocks}.1.ipBlock.except.0`, "::ffff:0:0/96")],
  ["exceptionsLieWithin", "nothing is left", set(toIngest, `${blocks}.0.ipBlock.except.0`, "0.0.0.0/0")],
  ["exceptionsLieWithin", "of another range", set(toIngest, `${blocks}.0.ipBlock.cidr`, "128.0.0.0/1")],
];

describe.skipIf(!canRender)("broken manifests", () => {
  let sound: Resource[];
  beforeAll(() => {
    const testRuns = rendering("base + loadtest").filter(({ kind }) => kind === "TestRun");
    sound = [...rendering("production"), ...testRuns];
  });

  test.each(breaks)("%s: %s", (rule, _, change) => {
    const objects = structuredClone(sound);
    expect(rules[rule](objects)).toEqual([]);
    change(objects);
    expect(rules[rule](objects)).not.toEqual([]);
  });

  test("every rule has been seen red", () => {
    expect(Object.keys(rules).filter((rule) => !breaks.some(([name]) => name === rule))).toEqual([]);
  });

  test("a field that no schema knows is found in any object", async () => {
    for (const object of sound) {
      expect(await schemaProblems({ ...object, sepc: {} } as Resource)).toEqual([
        "/sepc: the schema has no such field",
      ]);
    }
  });

  test.each<[what: string, change: Change, problem: string]>([
    ["with a typing error", set(testRun, "spec.paralelism", 2), "/spec/paralelism: the schema has no such field"],
    [
      "with one that only pods have",
      set(testRun, "spec.runner.command", []),
      "/spec/runner/command: the schema has no such field",
    ],
    ["without a number of runners", set(testRun, "spec.parallelism"), "/spec/parallelism is missing"],
  ])("a load test %s is found", async (_, change, problem) => {
    const objects = structuredClone(sound);
    change(objects);
    expect(await schemaProblems(find(objects, testRun))).toEqual([problem]);
  });
});
