/**
 * Starts Spotlight as a library, because its command and its UI send events to Spotlight's own Sentry project, and a local ingest must
 * not. Without the command the server sends none; the UI gets an empty DSN. And the UI asks the port
 * that the server has in the container, at which another stack's ingest may be published.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setupSpotlight } from "@spotlightjs/spotlight";

const ui = join(dirname(fileURLToPath(import.meta.resolve("@spotlightjs/spotlight"))), "../ui");
const ownDsn = /dsn:"https:\/\/[^"]*sentry\.io\/\d+"/;
const serverPort = /\(\w+\?`http:\/\/localhost:\$\{\w+\}\/stream`:\w+\)/;
const otherOrigins = " http://localhost:* ws://localhost:* https://*.sentry.io";

const files = Object.fromEntries(
  readdirSync(ui, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(ui.length + 1), readFileSync(path)]),
);

/** Replaces `pattern` in one UI file; throws if it is missing, so that a new version of Spotlight cannot ask other origins unnoticed. */
function replaceIn(file: string, pattern: RegExp | string, replacement: string): void {
  const before = files[file]?.toString() ?? "";
  const after = before.replace(pattern, replacement);
  if (after === before) throw new Error(`culvert ingest: ${file} of this Spotlight version asks other origins in an unknown way`);
  files[file] = Buffer.from(after);
}

replaceIn("assets/instrumentation.js", ownDsn, 'dsn:""');
replaceIn("assets/index.js", serverPort, '(location.origin+"/stream")');
replaceIn("index.html", otherOrigins, "");

// Replays are not JSON; Spotlight would try to parse them and answer 500.
const { RAW_TYPES } = await import(new URL("../shared/constants.js", import.meta.resolve("@spotlightjs/spotlight")).href);
RAW_TYPES.add("replay_recording");

// As Sentry's ingest, whose response has a body. https://github.com/getsentry/relay, relay-server/src/endpoints/envelope.rs
const sentryHeaders = {
  "Content-Type": "application/json",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "x-sentry-error,x-sentry-rate-limits,retry-after",
  "Cross-Origin-Resource-Policy": "cross-origin",
  Vary: "origin, access-control-request-method, access-control-request-headers",
};
const responses = new AsyncLocalStorage<ServerResponse>();

/** Makes the response to the current request Sentry's: the id of the event, if the envelope has one. */
function respondAsSentry(envelope: string): void {
  const response = responses.getStore();
  const id = /^\{[^\n]*"event_id"\s*:\s*"([0-9a-f-]+)"/.exec(envelope)?.[1];
  if (!response) return;
  const { writeHead, end } = response;
  Object.assign(response, {
    writeHead: (status: number) => writeHead.call(response, status, sentryHeaders),
    end: () => end.call(response, JSON.stringify(id ? { id } : {}), "utf8"),
  });
}

const server = await setupSpotlight({
  port: Number(process.env.PORT),
  filesToServe: files,
  isStandalone: true,
  incomingPayload: respondAsSentry,
});

// SDKs send envelopes as text/plain or without a Content-Type, which Sentry's ingest ignores; Spotlight drops those without one and
// does not show those with text/plain.
server?.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
  if (request.method === "POST" && request.url?.startsWith("/api/")) {
    responses.enterWith(response);
    const others = request.rawHeaders.flatMap((name, i, all) =>
      i % 2 || name.toLowerCase() === "content-type" ? [] : [name, all[i + 1] as string],
    );
    request.rawHeaders = [...others, "Content-Type", "application/x-sentry-envelope"];
  }
});
