import type { IncomingHttpHeaders } from "node:http";
import * as sentry from "@sentry/nextjs";
import { expect, test } from "vitest";
import { serverOptions } from "../options/server.js";
import { parseSettings } from "../settings/settings.js";
import { listen } from "../test/listen.js";

/** Matches every secret, and the client's IP; an ingest must see none of them, in any encoding. */
const PLANTED = /hunter2|jo\.doe|203\.0\.113/;

// Joined at run time, because the SDK sends the source lines around a stack frame.
const SECRET = ["hunter", 2].join("");
const EMAIL = ["jo", "doe@example.com"].join(".");
const inText = `said {"password":"${SECRET}","n":1} to ${EMAIL}`;

type Sent = { envelopes: string[]; propagated: IncomingHttpHeaders[] };

async function plantSecrets(traceLifecycle: "static" | "stream"): Promise<Sent> {
  const sent: Sent = { envelopes: [], propagated: [] };
  const upstream = await listen((request, response) => response.end(String(sent.propagated.push(request.headers))));
  const SENTRY_DSN = "http://culvert@127.0.0.1:9/1";
  const settings = parseSettings({ SENTRY_DSN, SENTRY_RELEASE: "v1", TRACE_PROPAGATION_TARGETS: upstream.url });
  const transport = (options: Parameters<typeof sentry.createTransport>[0]) =>
    sentry.createTransport(options, async ({ body }) => {
      sent.envelopes.push(Buffer.from(body).toString());
      return { statusCode: 200 };
    });
  // `init` would keep an earlier client. enableLogs is version 10's: logs are always on in 11.
  sentry.getCurrentScope().setClient(undefined);
  const client = sentry.init(serverOptions(settings, { traceLifecycle, transport, enableLogs: true }));

  const { url } = await listen(async (request, response) => {
    for await (const _ of request);
    await answer(request.headers, upstream.url);
    response.end();
  });
  const headers = {
    cookie: `sid=${SECRET}; cart=${SECRET}`,
    authorization: `Bearer ${SECRET}`,
    "x-api-key": SECRET,
    "x-forwarded-for": ["203.0", "113.9"].join("."),
    referer: `${url}/login?token=${SECRET}`,
    "content-type": "application/json",
  };
  const body = JSON.stringify({ password: SECRET, email: EMAIL });
  await fetch(`${url}/reset?token=${SECRET}&email=${EMAIL}#code=${SECRET}`, { method: "POST", headers, body });
  await client?.flush();
  return sent;
}

async function answer(headers: IncomingHttpHeaders, upstreamUrl: string): Promise<void> {
  sentry.setUser({ email: EMAIL, username: EMAIL });
  sentry.startSession();
  sentry.setTag("link", `/reset?token=${SECRET}`);
  sentry.setExtra("body", inText);
  sentry.setContext("login", { password: SECRET, nested: { authToken: SECRET, note: inText } });
  sentry.addBreadcrumb({ message: inText, data: { url: `/a?token=${SECRET}`, password: SECRET } });
  sentry.logger.info(inText, { password: SECRET, url: `/a?token=${SECRET}` });
  sentry.logger.info(sentry.logger.fmt`mail to ${EMAIL}`);
  sentry.metrics.count("logins", 1, { attributes: { token: SECRET, link: `/a?token=${SECRET}` } });
  sentry.captureCheckIn({ monitorSlug: `mail-to-${EMAIL}`, status: "ok" });
  sentry.captureFeedback({ message: inText, email: EMAIL, url: `https://app/?token=${SECRET}` });
  const attributes = {
    "http.request.header.cookie.sid": SECRET,
    "http.request.header.authorization": String(headers.authorization),
    "url.full": `https://app/reset?token=${SECRET}`,
    "url.query": `token=${SECRET}`,
    "app.note": inText,
  };
  const root = { name: `POST /reset?token=${SECRET}`, op: "http.server", forceTransaction: true, attributes };
  await sentry.startSpan(root, async (span) => {
    span.setAttribute("sentry.source", "custom");
    await (await fetch(`${upstreamUrl}/v1?token=${SECRET}`)).text();
    const query = { name: `SELECT '${EMAIL}'`, op: "db", attributes };
    sentry.startSpan(query, (child) => child.setAttribute("x.token", SECRET));
    sentry.captureException(new Error(`no: ${inText}`, { cause: new Error(`at /a?token=${SECRET}`) }));
    sentry.captureMessage(inText);
  });
  sentry.captureSession(true);
}

test.each([
  ["stream", "span"],
  ["static", "transaction"],
] as const)(
  "no secret of a request leaves this server, with traces in the lifecycle '%s'",
  async (lifecycle, trace) => {
    const { envelopes, propagated } = await plantSecrets(lifecycle);
    const types = envelopes.flatMap((text) => [...text.matchAll(/^\{"type":"(\w+)"/gm)].map(([, type]) => type));
    const all = ["event", "feedback", "check_in", "session", "log", "trace_metric", trace];
    expect(types).toEqual(expect.arrayContaining(all));
    expect(envelopes.filter((text) => PLANTED.test(text))).toEqual([]);
    expect(propagated[0]?.baggage).toContain("sentry-transaction=POST%20%2Freset");
    expect(propagated[0]?.baggage).not.toMatch(PLANTED);
  },
);
