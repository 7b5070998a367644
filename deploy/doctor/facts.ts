/** What the host knows about the running stack and a container cannot see: facts.sh, by standard input. */
export interface Facts {
  /** Settings as the compose file resolves them now, by service. */
  configured: Record<string, Record<string, string | null>>;
  containers: Container[];
  /** Names in the environment and in .env, and those that anything reads. */
  names: { environment: string[]; file: string[]; known: string[] };
  /** The proxy's log of the last five minutes. */
  log: Partial<Record<"client" | "trace_id" | "outcome" | "reason", string>>[];
}

interface Health {
  Status: string;
  Log?: { Output: string }[] | null;
}

/** What of `docker inspect` is used: https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Container/operation/ContainerInspect */
interface Inspected {
  Id: string;
  Name: string;
  /** The image's id. */
  Image: string;
  RestartCount: number;
  HostConfig: { RestartPolicy: { Name: string } };
  State: { Status: string; ExitCode: number; OOMKilled: boolean; StartedAt: string; Health?: Health };
  Config: { Env?: string[] | null; Labels: Record<string, string> };
  NetworkSettings: { Networks: Record<string, { Gateway?: string }> };
}

export interface Container extends Omit<Inspected, "Config"> {
  service: string;
  labels: Record<string, string>;
  environment: Record<string, string>;
  /** Variables that its image sets. */
  imageEnvironment: Record<string, string>;
  /** The last lines of its log; before its last start, if it was restarted. */
  lastLines: string[];
}

/** Takes the output of the function `section` in facts.sh, and returns access to each section by its name. */
export function readSections(text: string) {
  const parts = text.split(/^== (\S+)$/m);
  const sections = new Map<string, string[]>();
  for (let at = 1; at < parts.length; at += 2)
    sections.set(
      parts[at] ?? "",
      (parts[at + 1] ?? "").split("\n").filter((line) => line.trim()),
    );
  const lines = (name: string) => sections.get(name) ?? [];
  /** Returns a section's JSON, or `none` if it is empty. Throws if it is not JSON. */
  const json = <T>(name: string, none: T): T =>
    sections.get(name)?.length ? JSON.parse(lines(name).join("\n")) : none;
  return { lines, json };
}

/** Takes what `docker compose config` prints as JSON, and returns the settings of each service. It writes `$` as `$$`. */
export function composeSettings(lines: string[]): Facts["configured"] {
  type Services = Record<string, { environment?: Record<string, string | null> }>;
  const { services }: { services: Services } = JSON.parse(lines.join("\n").replaceAll("$$", () => "$"));
  return Object.fromEntries(Object.entries(services).map(([name, { environment = {} }]) => [name, environment]));
}

/** Takes what facts.sh prints and returns it parsed. Throws on malformed JSON. */
export function parseFacts(text: string): Facts {
  const { lines, json } = readSections(text);
  const configured = composeSettings(lines("config"));
  const images = new Map(json<Inspected[]>("images", []).map(({ Id, Config }) => [Id, variables(Config.Env)]));
  const containers = json<Inspected[]>("containers", [])
    // This program's own container is one of `docker compose run`.
    .filter(({ Config }) => Config.Labels["com.docker.compose.oneoff"] !== "True")
    .map(({ Config, ...rest }) => ({
      ...rest,
      Name: rest.Name.slice(1),
      service: Config.Labels["com.docker.compose.service"] ?? "",
      labels: Config.Labels,
      environment: variables(Config.Env),
      imageEnvironment: images.get(rest.Image) ?? {},
      lastLines: lines("last-lines").flatMap((line) =>
        line.startsWith(rest.Id) ? line.slice(rest.Id.length + 1) : [],
      ),
    }));
  // What an operator's own compose file or env_file adds is known too.
  const known = [...lines("known"), ...Object.values(configured).flatMap(Object.keys)];
  const log = lines("log").filter((line) => /^\{.*\}$/.test(line));
  return {
    ...{ configured, containers, log: log.map((line) => JSON.parse(line)) },
    names: { environment: lines("environment"), file: lines("env-file"), known },
  };
}

const variables = (list: string[] | null = []) =>
  // Without "=": a variable that compose passes on and that is not set.
  Object.fromEntries((list ?? []).map((entry) => [entry.split("=", 1)[0], entry.replace(/^[^=]*=?/, "")]));

/** Returns the settings that a service runs with: its container's own, else those of the compose file. */
export function settingsOf({ containers, configured }: Facts, service: string): Record<string, string> {
  const running = containers.find((one) => one.service === service && one.State.Status === "running");
  const all = Object.entries(configured[service] ?? {}).map(([name, value]) => [name, value ?? ""]);
  return running?.environment ?? Object.fromEntries(all);
}

/** Returns the items of a list of settings, such as DSNs or names. */
export const list = (value = "") => value.split(/[ ,]+/).filter(Boolean);
