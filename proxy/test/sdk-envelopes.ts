import * as core from "@sentry/core";
import { ServerRuntimeClient } from "@sentry/core/server";

/** A serialized envelope, and the item types that it holds. */
export interface SdkEnvelope {
  types: string[];
  body: Buffer;
}

/** Every item type that Sentry's SDKs send: by the SDK's own client where a server makes them, else written by its serializer. */
export async function sdkEnvelopes(dsn: string): Promise<SdkEnvelope[]> {
  return [...(await byClient(dsn, "static")), ...(await byClient(dsn, "stream")), ...bySerializer(dsn)];
}

/** What a client of the SDK sends for errors, traces, logs, metrics, sessions, check-ins, feedback and attachments. */
async function byClient(dsn: string, traceLifecycle: "static" | "stream"): Promise<SdkEnvelope[]> {
  const sent: SdkEnvelope[] = [];
  const client = new ServerRuntimeClient({
    dsn,
    traceLifecycle,
    tracesSampleRate: 1,
    enableLogs: true,
    release: "1",
    integrations: traceLifecycle === "stream" ? [core.spanStreamingIntegration()] : [],
    stackParser: () => [],
    transport: (options) =>
      core.createTransport(options, async ({ body }) => {
        sent.push(parsed(body));
        return { statusCode: 200 };
      }),
  });
  core.setCurrentClient(client);
  client.init();
  core.startSpan({ name: "GET /größe", op: "http.server" }, () => core.startSpan({ name: "child" }, () => {}));
  if (traceLifecycle === "static") {
    const attachments = [{ filename: "zeros.bin", data: new Uint8Array([0, 10, 255, 10, 0]) }];
    core.withScope((scope) => scope.addAttachment(attachments[0] as never) && core.captureException(new Error("über")));
    core.logger.info("a log\nof two lines");
    core.metrics.count("orders", 1);
    core.captureFeedback({ message: "well done" });
    core.captureCheckIn({ monitorSlug: "nightly", status: "ok" });
    core.startSession();
    core.captureSession(true);
  }
  await client.flush(5_000);
  await client.close(5_000);
  return sent;
}

/** What browsers and other SDKs send. https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
function bySerializer(dsn: string): SdkEnvelope[] {
  const binary = new Uint8Array(2048).map((_, n) => (n * 31) % 256);
  const replay = { type: "replay_event", replay_id: "a".repeat(32), segment_id: 0 };
  const chunk = { version: "2", profile: { samples: [] } };
  const items: unknown[][] = [
    [
      [{ type: "replay_event" }, replay],
      [{ type: "replay_recording", length: binary.length }, binary],
    ],
    [[{ type: "client_report" }, { discarded_events: [{ reason: "sample_rate", category: "error", quantity: 1 }] }]],
    [[{ type: "sessions" }, { aggregates: [{ started: "2026-01-01T00:00:00Z", exited: 2 }], attrs: { release: "1" } }]],
    [[{ type: "profile" }, { version: "1", profile: { samples: [] } }]],
    [[{ type: "profile_chunk", platform: "javascript" }, chunk]],
    [[{ type: "raw_security", content_type: "application/csp-report" }, '{"csp-report":{"blocked-uri":"inline"}}']],
    [[{ type: "user_report" }, { event_id: "b".repeat(32), name: "Zoë", email: "", comments: "broken" }]],
    [[{ type: "statsd", length: 11 }, "a:1|c\nb:2|c"]],
    [[{ type: "from_the_future", flavour: "new" }, { any: "thing" }]],
  ];
  return items.map((all) => {
    const header = { dsn, sent_at: "2026-01-01T00:00:00.000Z" };
    return parsed(core.serializeEnvelope(core.createEnvelope(header as never, all as never)));
  });
}

/** With the item types that the SDK's own parser finds in it. */
function parsed(envelope: string | Uint8Array): SdkEnvelope {
  const body = Buffer.from(envelope);
  const [, items] = core.parseEnvelope(new Uint8Array(body));
  return { types: items.map(([header]) => String(header.type)), body };
}
