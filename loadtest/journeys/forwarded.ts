import { assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { newContext, type SentContext } from "../lib/trace/context.ts";

/** Requests the echo route, which returns the headers the app received: a proxy that drops or rewrites a trace header shows here first. */
export async function forwarded(client: Client): Promise<void> {
  const path = client.options.echoPath;
  const sent = newContext(client.options.dsn.publicKey);
  const response = await client.request({ path, name: path, headers: sent.headers, traceId: sent.traceId });
  assertResponse(client, response, path);
  const changed = changedHeaders(sent, response.body);
  const example = response.status === 200 ? changed : describeResponse(response);
  client.check("forwarded", changed === "", `${path}: ${example}`, sent.traceId);
}

function changedHeaders(sent: SentContext, body: string): string {
  const received = echoed(body);
  const changed = Object.entries(sent.headers).filter(([name, value]) => received[name] !== value);
  return changed.map(([name]) => `${name} arrived as "${received[name]}"`).join("; ");
}

function echoed(body: string): Record<string, unknown> {
  try {
    const json = JSON.parse(body);
    return json.headers ?? json;
  } catch {
    return {};
  }
}
