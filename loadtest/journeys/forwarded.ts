import type { Client } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { answers, type Response } from "../lib/request.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";

/** Requests the echo route, which returns the headers that the app received, as two visitors at once. */
export async function forwarded(client: Client): Promise<void> {
  const path = client.options.echoPath;
  const sent = [true, false].map((sampled) => {
    const { headers, traceId } = newContext(client.options.dsn.publicKey, sampled);
    return { traceId, headers: { ...headers, cookie: `loadtest=${traceId}` } };
  });
  const echoes = sent.map((visitor) => client.request({ ...visitor, path, kind: "echo" }));
  for (const [at, on] of (await answers(echoes)).entries()) {
    if (!on) continue;
    assertResponse(client, on);
    const changed = on.status === 200 ? changedHeaders(sent[at]?.headers ?? {}, on) : describeResponse(on);
    client.check("forwarded", changed === "", on, changed);
  }
}

/** An echo need not know each header, apart from `sentry-trace` and `baggage`. */
function changedHeaders(sent: Record<string, string>, on: Response): string {
  const received = echoed(on.body);
  const known = (name: string) => name === "sentry-trace" || name === "baggage" || name in received;
  const changed = Object.entries(sent).filter(([name, value]) => known(name) && received[name] !== value);
  const arrived = (name: string) => (received[name] ? `arrived as "${received[name]}"` : "did not arrive");
  return changed.map(([name, value]) => `${name} sent as "${value}", ${arrived(name)}`).join("; ");
}

function echoed(body: string): Record<string, unknown> {
  try {
    const json = JSON.parse(body);
    return json.headers ?? json;
  } catch {
    return {};
  }
}
