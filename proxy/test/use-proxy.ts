import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, inject } from "vitest";
import { docker, label, type Outcome } from "../../deploy/test/support/docker.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer, RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { type Options, startProxy, type TestProxy } from "./proxy.ts";
import { ingestNames } from "./testbed.ts";
import { type Client, type Request, type Response, raw, send } from "./wire.ts";

export const trusting = { TRUSTED_PROXIES: "0.0.0.0/0" };

export const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };
export const ok: Answer = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

export const pageWith = (headers: Answer["headers"]): Answer => ({ ...page, headers: { ...page.headers, ...headers } });

export const envelope = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"hello"}\n';

/** Three projects, in the order in which the proxy numbers them. */
export function threeProjects(scheme = "http", port = 9000): Record<string, string> {
  const [first, second, third] = ingestNames;
  return {
    SENTRY_DSN: `${scheme}://key@${first}:${port}/prefix/7`,
    TUNNEL_ALLOWED_DSNS: `${scheme}://second@${second}:${port}/43,${scheme}://third:secret@${third}:${port}/45`,
  };
}

export function publicFolder(): string {
  const folder = mkdtempSync(join(inject("folder"), "files-"));
  chmodSync(folder, 0o755);
  return folder;
}

/** Mounts for a changed copy of this file of proxy/: for times that no test can wait for. */
export function changed(
  path: string,
  replacements: Record<string, string>,
  folder = "/etc/nginx",
): Record<string, string> {
  const file = join(publicFolder(), "copy");
  let copy = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  for (const [text, replacement] of Object.entries(replacements)) {
    if (!copy.includes(text)) throw new Error(`${path} does not contain: ${text}`);
    copy = copy.replace(text, replacement);
  }
  writeFileSync(file, copy, { mode: 0o755 });
  return { [file]: `${folder}/${path}` };
}

export const watchingCertificate = () =>
  changed("entrypoint.d/watch-certificate.sh", { "sleep 5": "sleep 1" }, "/culvert");

export const watching = (seconds: number, turns: number) =>
  changed("entrypoint.d/watch-sets.sh", { "sleep 5": `sleep ${seconds}`, "-gt 12": `-gt ${turns}` }, "/culvert");

interface Exchange<Answer> {
  answer: Answer;
  received: RecordedRequest[];
  header(name: string): string | undefined;
}

export interface SharedProxy {
  proxy: TestProxy;
  /** Requests `/page`, or what `request` says; returns the answer with what web received. */
  through(request?: Partial<Request>, by?: Client): Promise<Exchange<Response>>;
  /** Posts an envelope, or what `request` says; returns the answer with what the ingest received. */
  post(request?: Partial<Request>, by?: Client): Promise<Exchange<Response>>;
  write(bytes: string, until?: RegExp, proxyLine?: string | Buffer): Promise<Exchange<string>>;
  plainly: Client;
  inside: Client;
}

export function useProxy(settings: Record<string, string> = {}, options: Options = {}): SharedProxy {
  const exchange = async <T>(service: "web" | "ingest", ask: (port: number) => Promise<T>): Promise<Exchange<T>> => {
    const recorder = shared.proxy[service];
    const mark = await recorder.count();
    const answer = await ask(shared.proxy.port);
    const received = await recorder.all(mark);
    return { answer, received, header: (name) => headerOf(received[0] as RecordedRequest, name) };
  };
  const get = { path: "/page" };
  const post = { method: "POST", path: "/monitoring", headers: { "content-type": "text/plain;charset=UTF-8" } };
  const shared = {
    through: (request, by = send) => exchange("web", (port) => by(port, { ...get, ...request })),
    post: (request, by = send) => exchange("ingest", (port) => by(port, { ...post, body: envelope, ...request })),
    write: (bytes, ...more) => exchange("web", (port) => raw(port, bytes, ...more)),
    plainly: (_, request) => send(shared.proxy.at(8080), request),
    inside: (_, request) => send(shared.proxy.at(8083), request),
  } as SharedProxy;
  beforeAll(async () => {
    shared.proxy = await startProxy(settings, options);
  });
  beforeEach(async () => {
    const { web, web2, ingest } = shared.proxy;
    await Promise.all([web.answer(page), web2?.answer(page), ingest.answer(ok)]);
  });
  afterAll(() => shared.proxy?.stop());
  return shared;
}

/** Checks the configuration for real; instead of serving, says what the ingest's address has become. */
const nginx = `#!/bin/sh
[ "$1" = -g ] || exec /usr/sbin/nginx "$@"
first() { sed -n '1{s/^"envelope 1" /1 /; s/^1 //; s/;.*//; p}' "/tmp/nginx/ingest/$1"; }
/usr/sbin/nginx -t -q && echo "started for $(first scheme)://$(first host)$(first path)"
`;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Runs this command with each of these settings, one after the other in one container; returns how each ended. */
export async function inTurn(
  image: string,
  command: string,
  all: Record<string, string>[],
  options: string[],
): Promise<Outcome[]> {
  const folder = publicFolder();
  const run = all.map((settings) => {
    const assignments = Object.entries(settings).map(([name, value]) => `${name}=${quoted(value)}`);
    const start = `setsid env ${assignments.join(" ")} ${command} >/tmp/said 2>&1 & wait $!`;
    // What it leaves in the background would write among the lines of the next one.
    return `${start}; printf '\\036%s\\n' $?; kill -9 -$! 2>/dev/null; cat /tmp/said`;
  });
  writeFileSync(join(folder, "nginx"), nginx, { mode: 0o755 });
  writeFileSync(join(folder, "run"), `PATH=/starts:$PATH\n${run.join("\n")}\n`, { mode: 0o644 });
  const args = [`--volume=${folder}:/starts:ro`, "--entrypoint=sh"];
  const { output } = await docker("run", "--rm", label, "--network=none", ...options, ...args, image, "/starts/run");
  const ended = output.split("\x1e").slice(1);
  return ended.map((text) => {
    const [code, ...lines] = text.split("\n");
    return { code: Number(code), output: lines.join("\n").trim() };
  });
}
