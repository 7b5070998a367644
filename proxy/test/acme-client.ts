import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";

/** A container of deploy/acme. */
export interface AcmeClient {
  name: string;
  lines(): Promise<string[]>;
  /** Whether the health check of docker-compose.yml succeeds. */
  isSettled(): Promise<boolean>;
}

/** What one is started with; `volumes` are those for its account and for certificates, `mounts` maps host files to paths. */
export interface AcmeClientOptions {
  image: string;
  network: string;
  caFile: string;
  volumes: [account: string, certificates: string];
  settings: Record<string, string>;
  mounts?: Record<string, string>;
  /** A shell's command that prepares the volumes. */
  prepare?: string;
}

/** Starts deploy/acme as docker-compose.yml does. */
export async function startAcmeClient(name: string, options: AcmeClientOptions): Promise<AcmeClient> {
  const { image, network, caFile, volumes, settings, mounts = {}, prepare } = options;
  const [account, certificates] = volumes;
  await must(
    ...["run", "-d", label, ...restricted, `--name=${name}`, `--network=${network}`],
    ...["--tmpfs=/tmp:uid=101,gid=101,mode=0700,size=16m", `--volume=${account}:/var/lib/acme`],
    ...[`--volume=${certificates}:/srv/certificates`],
    ...Object.entries({ ...mounts, [caFile]: "/ca.crt" }).map(([file, path]) => `--volume=${file}:${path}:ro`),
    ...Object.entries({
      ACME_EMAIL: "ops@example.com",
      ACME_DIRECTORY: "https://ca.test/dir",
      ACME_CA_FILE: "/ca.crt",
      ...settings,
    }).map(([key, value]) => `--env=${key}=${value}`),
    ...[`--entrypoint=${prepare ? "sh" : "/acme/acme.sh"}`, image],
    ...(prepare ? ["-c", `${prepare}\nexec /acme/acme.sh`] : []),
  );
  return {
    name,
    lines: async () => (await must("logs", name)).split("\n"),
    isSettled: async () => (await docker("exec", name, "test", "-e", "/tmp/settled")).code === 0,
  };
}
