/** What the host knows about the running stack and a container cannot see: facts.sh, by standard input. */
export interface Facts {
  /** Settings as the compose file resolves them now, by service. */
  configured: Record<string, { environment: Record<string, string | null> }>;
  containers: Container[];
  /** Names in the environment and in .env, and those that anything reads. */
  names: { environment: string[]; file: string[]; known: string[] };
  /** The proxy's log of the last five minutes. */
  log: LogLine[];
  /** The networks' gateways: what connects to this machine's published ports by another machine's address keeps it, all else has a gateway's. */
  gateways: string[];
  /** Versions of this repository, Docker, Nginx, Node, Next: text for people. */
  versions: string;
}

export interface Container {
  service: string;
  name: string;
  image: { id: string; tag: string; created: string; environment: Record<string, string> };
  status: string;
  /** Empty without a health check. */
  health: string;
  exitCode: number;
  restarts: number;
  /** Whether the engine starts it again when it ends: a service, not a job. */
  isService: boolean;
  outOfMemory: boolean;
  started: string;
  /** Of the memory limit, from 0 to 1; undefined when not running. */
  memory: number | undefined;
  environment: Record<string, string>;
  networks: string[];
  /** Settings that it was started with and that are in no variable: the label culvert.given. */
  given: string[];
  /** The last lines of its log; before its last start, if it was restarted. */
  lastLines: string[];
}

/** A line of the proxy's log. */
export type LogLine = Record<
  "time" | "trace_id" | "client" | "path" | "outcome" | "reason" | "host",
  string | undefined
>;

/** What of `docker inspect` is used. https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Container/operation/ContainerInspect */
interface Inspected {
  Id: string;
  Name: string;
  Image: string;
  RestartCount: number;
  HostConfig?: { RestartPolicy?: { Name: string } };
  State: { Status: string; ExitCode: number; OOMKilled: boolean; StartedAt: string; Health?: { Status: string } };
  Config: { Image?: string; Env: string[] | null; Labels: Record<string, string> };
  NetworkSettings?: { Networks: Record<string, { Gateway?: string }> };
}

/** Returns items by a key of theirs: Map.groupBy, which Node 20 lacks. */
export function group<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Takes the output of the function `section` in facts.sh, and returns access to each section by its name. */
export function readSections(text: string) {
  const sections = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split("\n")) {
    const name = /^== (\S+)$/.exec(line)?.[1];
    if (name) {
      current = [];
      sections.set(name, current);
    } else if (line.trim()) current.push(line);
  }
  const lines = (name: string) => sections.get(name) ?? [];
  /** Returns a section's JSON after `decode`, or `none` if it is empty. Throws if it is not JSON. */
  const json = <T>(name: string, none: T, decode = (text: string) => text): T =>
    lines(name).length > 0 ? JSON.parse(decode(lines(name).join("\n"))) : none;
  return { lines, json };
}

/** Takes the access to JSON sections, and returns the services of `docker compose config`, which writes `$` as `$$`. */
export function composeServices(json: ReturnType<typeof readSections>["json"]): Facts["configured"] {
  type Config = { services: Record<string, { environment?: Record<string, string | null> }> };
  const { services } = json<Config>("config", { services: {} }, (text) => text.replaceAll("$$", () => "$"));
  return Object.fromEntries(Object.entries(services).map(([name, { environment = {} }]) => [name, { environment }]));
}

/** Takes what facts.sh prints and returns it parsed. Throws on malformed JSON. */
export function parseFacts(text: string): Facts {
  const { lines, json } = readSections(text);
  const configured = composeServices(json);
  /** The section's lines by their first word. */
  const byId = (name: string) => group(lines(name), (line) => line.split(" ", 1)[0] ?? "");
  const rest = (line = "") => line.slice(line.indexOf(" ") + 1);
  const [memory, last] = [byId("memory"), byId("last-lines")];
  const images = new Map(
    json<{ Id: string; Created: string; Config: { Env?: string[] } }[]>("images", []).map((one) => [one.Id, one]),
  );
  const containers = json<Inspected[]>("containers", [])
    // This program's own container is one of `docker compose run`.
    .filter(({ Config }) => Config.Labels["com.docker.compose.oneoff"] !== "True")
    .map(({ Id, Name, Image, RestartCount, HostConfig, State, Config, NetworkSettings }): Container => {
      const used = memory.get(Id.slice(0, 12))?.[0];
      const image = images.get(Image);
      return {
        service: Config.Labels["com.docker.compose.service"] ?? "",
        name: Name.replace(/^\//, ""),
        image: {
          id: Image,
          tag: Config.Image ?? "",
          created: image?.Created ?? "",
          environment: variables(image?.Config.Env),
        },
        ...{ status: State.Status, health: State.Health?.Status ?? "", exitCode: State.ExitCode },
        ...{ restarts: RestartCount, outOfMemory: State.OOMKilled, started: State.StartedAt },
        isService: !["", "no", undefined].includes(HostConfig?.RestartPolicy?.Name),
        memory: used ? Number.parseFloat(rest(used)) / 100 : undefined,
        environment: variables(Config.Env),
        networks: Object.keys(NetworkSettings?.Networks ?? {}),
        given: (Config.Labels["culvert.given"] ?? "").split(" ").filter(Boolean),
        lastLines: (last.get(Id) ?? []).map(rest),
      };
    });
  // What an operator's own compose file or env_file adds is known too.
  const keys = Object.values(configured).flatMap(({ environment }) => Object.keys(environment));
  const networks = json<Inspected[]>("containers", []).flatMap(({ NetworkSettings }) =>
    Object.values(NetworkSettings?.Networks ?? {}),
  );
  return {
    gateways: [...new Set(networks.flatMap(({ Gateway }) => Gateway || []))],
    ...{ configured, containers, versions: lines("versions").join(", ") },
    names: { environment: lines("environment"), file: lines("env-file"), known: [...lines("known"), ...keys] },
    log: lines("log").flatMap((line) => {
      try {
        return [JSON.parse(line) as LogLine];
      } catch {
        return [];
      }
    }),
  };
}

const variables = (list: string[] | null | undefined) =>
  Object.fromEntries(
    (list ?? []).map((entry) => {
      const at = entry.indexOf("=");
      // Without "=": a variable that compose passes on and that is not set.
      return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );

/** Returns the settings that a service runs with: its container's own, else those of the compose file. */
export function settingsOf(
  { containers, configured }: Pick<Facts, "containers" | "configured">,
  service: string,
): Record<string, string> {
  const running = containers.find((container) => container.service === service && container.status === "running");
  const configuration = Object.entries(configured[service]?.environment ?? {});
  return (
    running?.environment ??
    Object.fromEntries(configuration.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  );
}
