import { composeSettings, readSections } from "../facts.ts";

/** What is known about an app's image and about a run of it: deploy/doctor/check-app.sh. */
export interface AppFacts {
  /** Of docker-compose.yml, all services together. */
  settings: Record<string, string>;
  user: string;
  /** "running healthy", and the last output of the health check, else of the app. */
  state: string;
  output: string;
  requests: Requests;
  /** From required-server-files.json, if the image has it below /app. */
  build: Build | undefined;
  nextVersion: string;
  /** What the code has, by the names that check-app.sh gives: the section "mentions". */
  mentions: string[];
  hasMiddleware: boolean;
  /** DSNs in the browser's code. */
  dsns: string[];
  log: string[];
  stopExitCode: number;
}

export interface Build {
  basePath: string;
  output: string;
  deploymentId: string;
  env: Record<string, string>;
  /** The largest body that reaches a page behind middleware; the second is the name of Next 15. */
  experimental?: { proxyClientMaxBodySize?: number | string; middlewareClientMaxBodySize?: number | string };
}

/** What app-requests.ts found: statuses are 0 without an answer. */
export interface Requests {
  /** GET of the page at 127.0.0.1, and at the container's own address. */
  loopback: number;
  address: number;
  path: string;
  policy: string;
  html: string;
  /** A file of the build that the page names, and its status. */
  file: string;
  fileStatus: number;
}

/** Takes what check-app.sh prints and returns it parsed. Throws on malformed JSON. */
export function parseAppFacts(text: string): AppFacts {
  const { lines, json } = readSections(text);
  const first = (name: string) => lines(name)[0]?.trim() ?? "";
  const [image] = json<{ Config: { User?: string } }[]>("image", []);
  const settings = Object.values(composeSettings(lines("config"))).flatMap(Object.entries<string | null>);
  const { middleware } = json<{ middleware?: object }>("middleware", {});
  // Middleware in Next's Node.js runtime.
  const { functions } = json<{ functions?: object }>("functions", {});
  const none: Requests = { loopback: 0, address: 0, path: "/", policy: "", html: "", file: "", fileStatus: 0 };
  return {
    settings: Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""])),
    user: image?.Config.User ?? "",
    ...{ state: first("state"), output: first("output"), stopExitCode: Number(first("stop")), log: lines("log") },
    requests: json("requests", none),
    build: json<{ config: Build } | undefined>("build", undefined)?.config,
    nextVersion: json<{ version?: string }>("next", {}).version ?? "",
    mentions: lines("mentions"),
    hasMiddleware: Object.keys({ ...middleware }).length > 0 || "/_middleware" in { ...functions },
    dsns: lines("dsns"),
  };
}
