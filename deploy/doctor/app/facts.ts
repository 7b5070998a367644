import { composeServices, readSections } from "../facts.ts";

/** What is known about an app's image and about a run of it: deploy/doctor/check-app.sh. */
export interface AppFacts {
  settings: Record<string, string>;
  user: string;
  workingDirectory: string;
  /** "running healthy", what the last health check printed, and why the app is not healthy. */
  state: string;
  answered: string;
  reason: string;
  requests: Requests;
  /** From required-server-files.json, if the image has it below /app. */
  build: Build | undefined;
  nextVersion: string;
  hasServer: boolean;
  hasMiddleware: boolean;
  /** How many server actions the build has, and the key that it seals them with. */
  actions: { count: number; key: string };
  /** The key of this deployment's own builds. */
  actionsKey: string;
  /** DSNs in the browser's code. */
  dsns: string[];
  /** Whether the browser's code has the tunnel's path, `tunnel: true` and a WebSocket, and the server's the SDK and SERVER_TUNNEL. */
  mentions: {
    tunnelPath: boolean;
    tunnelTrue: boolean;
    webSocket: boolean;
    serverSdk: boolean;
    serverTunnel: boolean;
  };
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
  /** The largest body that reaches a page behind middleware; the second is the name of Next 15. */
  experimental?: { proxyClientMaxBodySize?: number | string; middlewareClientMaxBodySize?: number | string };
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
  const settings = Object.values(composeServices(json)).flatMap(({ environment }) => Object.entries(environment));
  const actions = json<{ node?: object; edge?: object; encryptionKey?: string }>("actions", {});
  const middleware = json<{ middleware?: object }>("middleware", {}).middleware ?? {};
  // In Next's Node.js runtime.
  const functions = json<{ functions?: object }>("functions", {}).functions ?? {};
  const [seconds = "0", exitCode = "0"] = first("stop").split(" ");
  return {
    settings: Object.fromEntries(settings.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    user: image?.Config.User ?? "",
    workingDirectory: image?.Config.WorkingDir ?? "",
    state: first("state"),
    answered: lines("answered").join(" "),
    reason: lines("reason").join(" "),
    requests: json("requests", nothing),
    build: json<{ config: Build } | undefined>("build", undefined)?.config,
    nextVersion: json<{ version?: string }>("next", {}).version ?? "",
    hasServer: first("server-js") === "yes",
    hasMiddleware: Object.keys(middleware).length > 0 || "/_middleware" in functions,
    actions: {
      count: Object.keys({ ...actions.node, ...actions.edge }).filter((id) => !isCached(id)).length,
      key: actions.encryptionKey ?? "",
    },
    actionsKey: first("actions-key").trim(),
    dsns: lines("dsns"),
    mentions: {
      tunnelPath: first("browser-tunnel") === "yes",
      tunnelTrue: first("browser-tunnel-true") === "yes",
      webSocket: first("browser-websocket") === "yes",
      serverSdk: first("server-sentry") === "yes",
      serverTunnel: first("server-tunnel") === "yes",
    },
    memory: Number.parseFloat(first("memory")) / 100 || 0,
    log: lines("log"),
    stop: { seconds: Number(seconds), exitCode: Number(exitCode) },
  };
}

/**
 * Whether an id of Next's server-reference-manifest.json is a `use cache` function, which no browser calls: the first bit of such an id is
 * 1 (next/dist/shared/lib/server-reference-info.js). Ids of Next 14 have no such bit, and are shorter.
 */
const isCached = (id: string) => id.length === 42 && Number.parseInt(id.slice(0, 2), 16) >= 0x80;
