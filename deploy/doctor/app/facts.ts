import { composeServices, readSections } from "../facts.ts";

/** What is known about an app's image and about a run of it: deploy/host/check-app.sh. */
export interface AppFacts {
  settings: Record<string, string>;
  user: string;
  workingDirectory: string;
  /** "running healthy", and what the health check said. */
  state: string;
  reason: string;
  requests: Requests;
  /** From required-server-files.json, if the image has it below /app. */
  build: Build | undefined;
  nextVersion: string;
  hasServer: boolean;
  /** How many server actions the build has, and the key that it seals them with. */
  actions: { count: number; key: string };
  /** The key of this deployment's own builds. */
  actionsKey: string;
  /** DSNs in the browser's code. */
  dsns: string[];
  /** Whether the browser's code has the tunnel's path, and the server's the SDK and SERVER_TUNNEL. */
  mentions: { tunnelPath: boolean; serverSdk: boolean; serverTunnel: boolean };
  /** Of its limit, from 0 to 1. */
  memory: number;
  log: string[];
  stop: { seconds: number; exitCode: number };
}

export interface Build {
  basePath: string;
  output: string;
  deploymentId: string;
  env: Record<string, string>;
}

/** What app-requests.ts found: statuses are 0 without an answer. */
export interface Requests {
  /** GET of the page at 127.0.0.1, and at the container's own address. */
  loopback: number;
  address: number;
  path: string;
  headers: Record<string, string>;
  html: string;
  /** A file of the build that the page names, and its status. */
  file: string;
  fileStatus: number;
  /** The nonce of the policy that the request had. */
  nonce: string;
}

const nothing: Requests = {
  loopback: 0,
  address: 0,
  path: "/",
  headers: {},
  html: "",
  file: "",
  fileStatus: 0,
  nonce: "",
};

/** Takes what check-app.sh prints and returns it parsed. Throws on malformed JSON. */
export function parseAppFacts(text: string): AppFacts {
  const { lines, json } = readSections(text);
  const first = (name: string) => lines(name)[0] ?? "";
  const [image] = json<{ Config: { User?: string; WorkingDir?: string } }[]>("image", []);
  const settings = Object.values(composeServices(json)).flatMap(({ environment }) => Object.entries(environment ?? {}));
  const actions = json<{ node?: object; edge?: object; encryptionKey?: string }>("actions", {});
  const [seconds = "0", exitCode = "0"] = first("stop").split(" ");
  return {
    settings: Object.fromEntries(settings.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    user: image?.Config.User ?? "",
    workingDirectory: image?.Config.WorkingDir ?? "",
    state: first("state"),
    reason: lines("reason").join(" "),
    requests: json("requests", nothing),
    build: json<{ config: Build } | undefined>("build", undefined)?.config,
    nextVersion: json<{ version?: string }>("next", {}).version ?? "",
    hasServer: first("server-js") === "yes",
    actions: { count: Object.keys({ ...actions.node, ...actions.edge }).length, key: actions.encryptionKey ?? "" },
    actionsKey: first("actions-key").trim(),
    dsns: lines("dsns"),
    mentions: {
      tunnelPath: first("browser-tunnel") === "yes",
      serverSdk: first("server-sentry") === "yes",
      serverTunnel: first("server-tunnel") === "yes",
    },
    memory: Number.parseFloat(first("memory")) / 100 || 0,
    log: lines("log"),
    stop: { seconds: Number(seconds), exitCode: Number(exitCode) },
  };
}
