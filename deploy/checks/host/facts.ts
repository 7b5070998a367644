import { readSections } from "../sections.ts";

/** What of `docker inspect` is used. */
export interface Inspected {
  Id: string;
  Name: string;
  RestartCount: number;
  HostConfig: { RestartPolicy: { Name: string }; PortBindings?: Record<string, { HostPort: string }[]> | null };
  State: {
    Status: string;
    ExitCode: number;
    OOMKilled: boolean;
    StartedAt: string;
    Health?: { Status: string; Log?: { Output: string }[] | null };
  };
  Config: { User?: string; Env?: string[] | null; Labels: Record<string, string> };
  NetworkSettings: { Networks: Record<string, { Gateway?: string }> };
}

type Logged = Partial<Record<"client" | "trace_id" | "outcome" | "reason", string>>;

interface Service {
  environment?: Record<string, string | null>;
  ports?: { published?: string }[];
}

/** Returns the services of what `docker compose config` prints as JSON. It writes `$` as `$$`. */
export const composeServices = (lines: string[]): Record<string, Service> =>
  JSON.parse(lines.join("\n").replaceAll("$$", () => "$")).services;

/** Takes what facts.sh prints, and returns it parsed. */
export function parseFacts(text: string) {
  const { lines, json } = readSections(text);
  const configured = composeServices(lines("config"));
  const containers = json<Inspected[]>("containers", [])
    .map(({ Config, ...inspected }) => {
      const [, code = "", why = ""] = /^(\S+) (.*)/.exec(lines(`why ${inspected.Id}`).at(-1) ?? "") ?? [];
      const service = Config.Labels["com.docker.compose.service"] ?? "";
      // `code` and `why` it is not healthy or was restarted: `diagnose` of deploy/lib.sh.
      return { ...inspected, Name: inspected.Name.slice(1), service, environment: variables(Config.Env), code, why };
    })
    // A release that was kept for open pages ends, as it should.
    .filter(({ service, State }) => service !== "web-previous" || State.Status !== "exited");
  const log: Logged[] = lines("log").flatMap((line) => (/^\{.*\}$/.test(line) ? JSON.parse(line) : []));
  const names = { saved: lines("env-file").length, unread: lines("unread"), spaced: lines("spaced") };
  return { configured, containers, log, unreadable: lines("unreadable"), names };
}
export type Facts = ReturnType<typeof parseFacts>;
export type Container = Facts["containers"][number];

const variables = (list: string[] | null = []): Record<string, string> =>
  // Without "=": a variable that compose passes on and that is not set.
  Object.fromEntries((list ?? []).map((entry) => [entry.split("=", 1)[0], entry.replace(/^[^=]*=?/, "")]));

/** Returns the settings that a service runs with. */
export const settingsOf = ({ containers }: Facts, service: string): Record<string, string> =>
  containers.find((container) => container.service === service)?.environment ?? {};

/** Returns the items of a list, such as DSNs. */
export const list = (value = "") => value.split(/[ ,]+/).filter(Boolean);
