import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { IStatefulSet } from "kubernetes-models/apps/v1/StatefulSet";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { IContainer } from "kubernetes-models/v1/Container";
import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import type { ISecret } from "kubernetes-models/v1/Secret";
import type { IService } from "kubernetes-models/v1/Service";
import type { IServiceAccount } from "kubernetes-models/v1/ServiceAccount";

/** An object that kustomize renders. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
}

interface Kinds {
  ConfigMap: IConfigMap;
  Deployment: IDeployment;
  HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  Job: IJob;
  NetworkPolicy: INetworkPolicy;
  PodDisruptionBudget: IPodDisruptionBudget;
  Secret: ISecret;
  Service: IService;
  ServiceAccount: IServiceAccount;
  StatefulSet: IStatefulSet;
  TestRun: ITestRun;
}

/** The pods of k6-operator's TestRun: https://github.com/grafana/k6-operator/blob/main/docs/crd-generated.md */
interface ITestRun {
  spec: Record<"runner" | "initializer" | "starter", ITestRunPod | undefined> & {
    script: { configMap: { name: string; file: string } };
  };
}
type ITestRunPod = Pick<IPodSpec, "securityContext" | "serviceAccountName"> &
  Partial<Pick<IContainer, "image" | "env" | "resources">> & {
    automountServiceAccountToken?: string;
    containerSecurityContext?: IContainer["securityContext"];
  };

/** The objects of one kind. */
export function of<K extends keyof Kinds>(objects: Resource[], kind: K): (Resource & Kinds[K])[] {
  return objects.filter((object) => object.kind === kind) as (Resource & Kinds[K])[];
}

/** An object that creates pods. */
export interface Workload {
  name: string;
  /** A long-running service, or pods of another controller that exit by themselves. */
  kind: "service" | "job";
  labels: Record<string, string>;
  pod: IPodSpec;
}

/** Deployments and StatefulSets. */
export function controllers(objects: Resource[]) {
  return [...of(objects, "Deployment"), ...of(objects, "StatefulSet")];
}

/** All pod templates, those of Jobs and of a TestRun included. */
export function workloads(objects: Resource[]): Workload[] {
  const services = controllers(objects).map(({ metadata, spec }): Workload => {
    const pod = spec?.template.spec ?? { containers: [] };
    const claims = spec && "volumeClaimTemplates" in spec ? (spec.volumeClaimTemplates ?? []) : [];
    const claimed = claims.map(({ metadata: { name = "" } = {} }) => ({
      name,
      persistentVolumeClaim: { claimName: name },
    }));
    const volumes = [...(pod.volumes ?? []), ...claimed];
    return {
      name: metadata.name,
      kind: "service",
      labels: spec?.template.metadata?.labels ?? {},
      pod: { ...pod, volumes },
    };
  });
  const jobs = of(objects, "Job").map(({ metadata, spec }): Workload => {
    const { metadata: { labels = {} } = {}, spec: pod = { containers: [] } } = spec?.template ?? {};
    return { name: metadata.name, kind: "job", labels, pod };
  });
  const runs = of(objects, "TestRun").flatMap(({ metadata, spec }) =>
    (["initializer", "runner", "starter"] as const).map((role) => job(metadata.name, role, spec[role])),
  );
  return [...services, ...jobs, ...runs];
}

function job(testRun: string, role: string, pod: ITestRunPod | undefined): Workload {
  const { automountServiceAccountToken, containerSecurityContext, securityContext, serviceAccountName, ...container } =
    pod ?? {};
  return {
    name: `${testRun}-${role}`,
    kind: "job",
    labels: { app: "k6", k6_cr: testRun },
    pod: {
      automountServiceAccountToken: automountServiceAccountToken !== "false",
      securityContext,
      serviceAccountName,
      containers: [{ name: "k6", ...container, securityContext: containerSecurityContext }],
    },
  };
}

/** Every container of the workloads, with a name for messages. */
export function containers(objects: Resource[]): { at: string; workload: Workload; container: IContainer }[] {
  return workloads(objects).flatMap((workload) =>
    [...(workload.pod.initContainers ?? []), ...workload.pod.containers].map((container) => ({
      at: `${workload.name}/${container.name}`,
      workload,
      container,
    })),
  );
}

/** Whether `labels` include all of `wanted`. */
export function matches(wanted: Record<string, string> | undefined, labels: Record<string, string>): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => labels[key] === value);
}

/** The minimum number of pods of a Deployment. */
export function minReplicas(objects: Resource[], deployment: string): number {
  const scaler = of(objects, "HorizontalPodAutoscaler").find(({ spec }) => spec?.scaleTargetRef.name === deployment);
  const found = of(objects, "Deployment").find(({ metadata }) => metadata.name === deployment);
  return scaler?.spec?.minReplicas ?? found?.spec?.replicas ?? 1;
}
