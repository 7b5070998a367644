const pod = [
  ...["affinity", "automountServiceAccountToken", "containerSecurityContext", "disabled", "env", "envFrom", "image"],
  ...["imagePullPolicy", "imagePullSecrets", "initContainers", "livenessProbe", "metadata", "nodeSelector"],
  ...["priorityClassName", "readinessProbe", "resources", "schedulerName", "securityContext", "serviceAccountName"],
  ...["tolerations", "topologySpreadConstraints", "volumeMounts", "volumes"],
];

/** The version of k6-operator whose schema this is: https://github.com/grafana/k6-operator/blob/v1.6.0/config/crd/bases/k6.io_testruns.yaml */
export const operator = "1.6";

/** The fields of a TestRun and the required ones, by path. */
const schema: Record<string, { fields: string[]; required?: string[] }> = {
  "": { fields: ["apiVersion", "kind", "metadata", "spec", "status"], required: ["spec"] },
  "/spec": {
    fields: [
      ...["args", "arguments", "cleanup", "initializer", "parallelism", "paused", "ports", "quiet", "runner", "script"],
      ...["scuttle", "separate", "starter", "testRunId", "token"],
    ],
    required: ["parallelism", "script"],
  },
  "/spec/script": { fields: ["configMap", "localFile", "volumeClaim"] },
  "/spec/script/configMap": { fields: ["file", "name"], required: ["name"] },
  "/spec/script/volumeClaim": { fields: ["file", "name", "readOnly"], required: ["name"] },
  "/spec/initializer": { fields: pod },
  "/spec/runner": { fields: pod },
  "/spec/starter": { fields: pod },
};

/** A TestRun's problems by k6-operator's schema: unknown fields and missing ones. */
export function testRunProblems(testRun: object): string[] {
  return Object.entries(schema).flatMap(([path, { fields, required = [] }]) => {
    const found = path
      .split("/")
      .slice(1)
      .reduce(fieldOf, testRun as unknown);
    if (found === undefined) return [];
    const keys = Object.keys(found as object);
    return [
      ...keys.filter((key) => !fields.includes(key)).map((key) => `${path}/${key}: the schema has no such field`),
      ...required.filter((key) => !keys.includes(key)).map((key) => `${path}/${key} is missing`),
    ];
  });
}

const fieldOf = (value: unknown, key: string) => (value as Record<string, unknown> | undefined)?.[key];
