/** What the host knows and a container cannot see (deploy/host/facts.sh), read from standard input. */
export interface Facts {
  /** Settings as the compose file resolves them now, by service. */
  configured: Record<string, Service>;
  containers: Container[];
  /** Names in the environment and in .env, and those that the compose file and the host scripts read. */
  names: { environment: string[]; file: string[]; known: string[] };
  /** Tunnel requests in the proxy's log of the last five minutes, by outcome and reason. */
  outcomes: { outcome: string; reason: string; count: number }[];
  /** When the ingest last accepted an envelope, as far as the log goes back. */
  lastAccepted: string;
  /** Clients of the proxy's log of the last five minutes, the most frequent first. */
  clients: { address: string; count: number }[];
  /** Paths of WebSocket handshakes that the proxy refused in the last five minutes, the most frequent first. */
  upgrades: { path: string; count: number }[];
  /** The client that the proxy logged for a request with a forged X-Forwarded-For. */
  forged: string;
  /** Base images and when they were built. */
  images: { name: string; created: string }[];
  /** Text for the operator: versions of Docker, Compose and this repository. */
  versions: string;
}

export interface Service {
  environment: Record<string, string | null>;
}

export interface Container {
  service: string;
  name: string;
  status: string;
  /** Empty without a health check. */
  health: string;
  exitCode: number;
  restarts: number;
  /** Whether the engine starts it again when it ends: a service, not a job. */
  restarted: boolean;
  outOfMemory: boolean;
  started: string;
  /** Of the memory limit, from 0 to 1; undefined when not running. */
  memory: number | undefined;
  environment: Record<string, string>;
  /** The variables of its image. */
  image: Record<string, string>;
  /** Settings that it was started with and that are in no variable: the label culvert.given. */
  given: string[];
}

/** What was planted as a forged client address by deploy/host/facts.sh. */
export const FORGED_CLIENT = "192.0.2.77";

/** Takes what facts.sh prints, sections that begin with "== name", and returns it parsed. Throws on malformed JSON. */
export function parseFacts(text: string): Facts {
  const { lines, json } = readSections(text);
  const configured = Object.fromEntries(
    Object.entries(composeServices(json)).map(([name, { environment }]) => [name, { environment: environment ?? {} }]),
  );
  const memory = new Map(
    lines("memory").map((line) => {
      const [id = "", share = ""] = line.split(" ");
      return [id, Number.parseFloat(share) / 100] as const;
    }),
  );
  const images = new Map(
    lines("image-environment").map((line) => {
      const at = line.indexOf(" ");
      return [line.slice(0, at), variables(JSON.parse(line.slice(at)))] as const;
    }),
  );
  // What an operator's own compose file or env_file adds is known too.
  const keys = Object.values(configured).flatMap(({ environment }) => Object.keys(environment));
  return {
    configured,
    containers: json<Inspected[]>("containers", [])
      // This program's own container is one of `docker compose run`.
      .filter(({ Config }) => Config.Labels["com.docker.compose.oneoff"] !== "True")
      .map((one) => container(one, memory, images)),
    names: { environment: lines("environment"), file: lines("env-file"), known: [...lines("known"), ...keys] },
    outcomes: lines("outcomes")
      .map(counted)
      .map(([count, outcome, reason]) => ({ outcome, reason, count })),
    lastAccepted: lines("last-accepted")[0] ?? "",
    clients: lines("clients")
      .map(counted)
      .map(([count, address]) => ({ address, count }))
      .sort((a, b) => b.count - a.count),
    upgrades: lines("upgrades")
      .map(counted)
      .map(([count, path]) => ({ path, count }))
      .sort((a, b) => b.count - a.count),
    forged: lines("forged")[0] ?? "",
    images: lines("images").map((line) => {
      const [name = "", created = ""] = line.split(" ");
      return { name, created };
    }),
    versions: lines("versions").join(", "),
  };
}

/** Takes the output of the function `section` in deploy/host/facts.sh, and returns access to each section by its name. */
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
export function composeServices(json: ReturnType<typeof readSections>["json"]): Record<string, Partial<Service>> {
  return json<{ services: Record<string, Partial<Service>> }>("config", { services: {} }, (text) =>
    text.replaceAll("$$", () => "$"),
  ).services;
}

/** A line of `uniq -c`. */
function counted(line: string): [count: number, first: string, second: string] {
  const [count, first = "", second = ""] = line.trim().split(/\s+/);
  return [Number(count), first, second];
}

/** What of `docker inspect` is used. https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Container/operation/ContainerInspect */
interface Inspected {
  Id: string;
  Name: string;
  Image: string;
  RestartCount: number;
  HostConfig?: { RestartPolicy?: { Name: string } };
  State: { Status: string; ExitCode: number; OOMKilled: boolean; StartedAt: string; Health?: { Status: string } };
  Config: { Env: string[] | null; Labels: Record<string, string> };
}

function container(
  { Id, Name, Image, RestartCount, HostConfig, State, Config }: Inspected,
  memory: Map<string, number>,
  images: Map<string, Record<string, string>>,
): Container {
  return {
    service: Config.Labels["com.docker.compose.service"] ?? "",
    name: Name.replace(/^\//, ""),
    status: State.Status,
    health: State.Health?.Status ?? "",
    exitCode: State.ExitCode,
    restarts: RestartCount,
    restarted: !["", "no", undefined].includes(HostConfig?.RestartPolicy?.Name),
    outOfMemory: State.OOMKilled,
    started: State.StartedAt,
    memory: memory.get(Id.slice(0, 12)),
    environment: variables(Config.Env),
    image: images.get(Image) ?? {},
    given: (Config.Labels["culvert.given"] ?? "").split(" ").filter(Boolean),
  };
}

const variables = (list: string[] | null) => Object.fromEntries((list ?? []).map(split));

function split(entry: string): [name: string, value: string] {
  const at = entry.indexOf("=");
  // A variable that compose passes on and that is not set.
  if (at < 0) return [entry, ""];
  return [entry.slice(0, at), entry.slice(at + 1)];
}
