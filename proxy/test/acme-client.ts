import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";

/** How a container of deploy/acme is started. */
export interface AcmeClientOptions {
  image: string;
  network: string;
  caFile: string;
  volumes: [account: string, certificates: string];
  settings: Record<string, string>;
  /** Host files to paths. */
  mounts?: Record<string, string>;
  /** A shell's command that prepares the volumes. */
  prepare?: string;
}

/** Starts deploy/acme as docker-compose.yml does. */
export async function startAcmeClient(name: string, options: AcmeClientOptions): Promise<void> {
  const { image, network, caFile, volumes, settings, mounts = {}, prepare } = options;
  const [account, certificates] = volumes;
  const environment = { ACME_EMAIL: "ops@example.com", ACME_DIRECTORY: "https://ca.test/dir", ACME_CA_FILE: "/ca.crt" };
  await must(
    ...["run", "-d", label, ...restricted, `--name=${name}`, `--network=${network}`],
    ...["--tmpfs=/tmp:uid=101,gid=101,mode=0700,size=16m", `--volume=${account}:/var/lib/acme`],
    ...[`--volume=${certificates}:/srv/certificates`],
    ...Object.entries({ ...mounts, [caFile]: "/ca.crt" }).map(([file, path]) => `--volume=${file}:${path}:ro`),
    ...Object.entries({ ...environment, ...settings }).map(([key, value]) => `--env=${key}=${value}`),
    ...[`--entrypoint=${prepare ? "sh" : "/acme/acme.sh"}`, image],
    ...(prepare ? ["-c", `${prepare}\nexec /acme/acme.sh`] : []),
  );
}

/** What it has logged. */
export const linesOf = async (name: string): Promise<string[]> => (await must("logs", name)).split("\n");

/** Whether the health check of docker-compose.yml succeeds. */
export const isSettled = async (name: string): Promise<boolean> =>
  (await docker("exec", name, "test", "-e", "/tmp/settled")).code === 0;
