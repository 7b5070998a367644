import { readSections } from "../sections.ts";

/** What of `docker inspect` is used: https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Container/operation/ContainerInspect */
export interface Inspected {
  Id: string;
  Name: string;
  /** The image's id. */
  Image: string;
  RestartCount: number;
  HostConfig: { RestartPolicy: { Name: string }; PortBindings?: Record<string, { HostPort: string }[]> | null };
  State: { Status: string; ExitCode: number; OOMKilled: boolean; StartedAt: string; Health?: Health };
  Config: { User?: string; Env?: string[] | null; Labels: Record<string, string> };
  NetworkSettings: { Networks: Record<string, { Gateway?: string }> };
}
interface Health {
  Status: string;
  Log?: { Output: string }[] | null;
}

type Logged = Partial<Record<"client" | "trace_id" | "outcome" | "reason", string>>;

interface Service {
  environment?: Record<string, string | null>;
  ports?: { published?: string }[];
}

/** Takes what `docker compose config` prints as JSON, and returns its services. It writes `$` as `$$`. */
export const composeServices = (lines: string[]): Record<string, Service> =>
  JSON.parse(lines.join("\n").replaceAll("$$", () => "$")).services;

/** Takes what facts.sh prints, which only the host knows about the running stack, and returns it parsed. Throws on malformed JSON. */
export function parseFacts(text: string) {
  const { lines, json } = readSections(text);
  /** As the compose file resolves them now, by service. */
  const configured = composeServices(lines("config"));
  const label = ({ Config }: Pick<Inspected, "Config">, name: string) =>
    Config.Labels[`com.docker.compose.${name}`] ?? "";
  const containers = json<Inspected[]>("containers", [])
    // Those of `docker compose run` are no part of the stack. Nor is a release that was kept for open pages and has ended, as it should.
    .filter((one) => label(one, "oneoff") !== "True")
    .filter((one) => label(one, "service") !== "web-previous" || one.State.Status !== "exited")
    .map(({ Config, ...one }) => ({
      ...one,
      Name: one.Name.slice(1),
      service: label({ Config }, "service"),
      environment: variables(Config.Env),
      /** Why it is not healthy, or was restarted: `reason` of deploy/lib.sh. */
      why: lines(`why ${one.Id}`).at(-1) ?? "",
    }));
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
  containers.find((one) => one.service === service)?.environment ?? {};

/** Returns the items of a list of settings, such as DSNs or names. */
export const list = (value = "") => value.split(/[ ,]+/).filter(Boolean);
