import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { ingestNames } from "./testbed.ts";
import { type Request, type Response, send } from "./wire.ts";

/** A well-formed envelope, and what the recording ingest answers to it. */
export const envelope = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"hello"}\n';
export const ok = { status: 200, headers: { "content-type": "application/json" }, body: '{"id":"9ec7"}' };

/** A tunnel to three projects that stands for all tests of a file. */
export interface SharedTunnel {
  /** The proxy; only there once the tests run. */
  proxy: TestProxy;
  /** Posts an envelope (or what `request` says), over HTTP/1.1 or as `by` does it; returns the answer with what the ingest received. */
  through(request?: Partial<Request>, by?: typeof send): Promise<{ answer: Response; received: RecordedRequest[] }>;
}

/** Where the recording ingest listens, for each way to talk to it. */
export const ingestPort = { http: 9000, https: 9443 };

/** Starts a proxy with two further allowed DSNs, all of this scheme, before the tests of the calling block and stops it after them. */
export function useTunnel(scheme: keyof typeof ingestPort = "http"): SharedTunnel {
  const shared = {
    through: async (request: Partial<Request> = {}, by = send) => {
      const mark = await shared.proxy.ingest.count();
      const usual = {
        method: "POST",
        path: "/monitoring",
        headers: { "content-type": "text/plain;charset=UTF-8" },
        body: envelope,
      };
      // The proxy answers only after the ingest did.
      const answer = await by(shared.proxy.port, { ...usual, ...request });
      return { answer, received: await shared.proxy.ingest.all(mark) };
    },
  } as SharedTunnel;
  beforeAll(async () => {
    const dsn = (key: string, name: number, path: string) =>
      `${scheme}://${key}@${ingestNames[name]}:${ingestPort[scheme]}/${path}`;
    const settings = {
      SENTRY_DSN: dsn("key", 0, "prefix/7"),
      TUNNEL_ALLOWED_DSNS: `${dsn("second", 1, "43")},${dsn("third:secret", 2, "45")}`,
    };
    if (scheme === "http") {
      shared.proxy = await startProxy(settings);
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), "culvert-"));
    chmodSync(folder, 0o755);
    makePair(join(folder, "server"), ingestNames);
    const options = { ingestCert: folder, mounts: { [join(folder, "server.crt")]: "/ca" } };
    shared.proxy = await startProxy({ ...settings, INGEST_CA_FILE: "/ca" }, options);
  });
  afterAll(() => shared.proxy?.stop());
  beforeEach(() => shared.proxy.ingest.answer(ok));
  return shared;
}
