/**
 * Starts Spotlight as a library instead of by its own command: the command and the UI report to Spotlight's makers, and
 * a local ingest must send nothing home. Leaving the command out silences the server; the UI gets an empty DSN.
 */
import type { IncomingMessage } from "node:http";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setupSpotlight } from "@spotlightjs/spotlight";

const ui = join(dirname(fileURLToPath(import.meta.resolve("@spotlightjs/spotlight"))), "../ui");
const homeDsn = /dsn:"https:\/\/[^"]*sentry\.io\/\d+"/;
const homePolicy = " https://*.sentry.io";

const files = Object.fromEntries(
  readdirSync(ui, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(ui.length + 1), readFileSync(path)]),
);

/** Replaces `pattern` in one UI file; throws when it is not there, so that a new Spotlight can't start to phone home unseen. */
function silence(file: string, pattern: RegExp | string, replacement: string): void {
  const before = files[file]?.toString() ?? "";
  const after = before.replace(pattern, replacement);
  if (after === before) throw new Error(`culvert ingest: ${file} of this Spotlight version reports home in a way not known here`);
  files[file] = Buffer.from(after);
}

silence("assets/instrumentation.js", homeDsn, 'dsn:""');
silence("index.html", homePolicy, "");

// Replays are not JSON; Spotlight would try to read them as such and answer 500.
const { RAW_TYPES } = await import(new URL("../shared/constants.js", import.meta.resolve("@spotlightjs/spotlight")).href);
RAW_TYPES.add("replay_recording");

const server = await setupSpotlight({ port: Number(process.env.PORT), filesToServe: files, isStandalone: true });

// SDKs send envelopes as text/plain or with no type at all, and Sentry's ingest never looks; Spotlight drops what has none
// and does not show the rest.
server?.prependListener("request", (request: IncomingMessage) => {
  if (request.method === "POST" && request.url?.startsWith("/api/")) {
    const others = request.rawHeaders.flatMap((name, i, all) =>
      i % 2 || name.toLowerCase() === "content-type" ? [] : [name, all[i + 1] as string],
    );
    request.rawHeaders = [...others, "Content-Type", "application/x-sentry-envelope"];
  }
});
