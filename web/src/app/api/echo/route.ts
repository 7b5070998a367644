import { requireConsole } from "../../../console/guard";
import { traceHeaders } from "../../../console/trace-headers";

/** Responds with the trace headers that it received: the default for UPSTREAM_URL, so that /trace works without an API. */
export async function GET(request: Request) {
  await requireConsole();
  // A load test's own cookie tells it whether cookies arrive, each visitor's own.
  const cookie = /\bloadtest=\w+/.exec(request.headers.get("cookie") ?? "")?.[0] ?? null;
  return Response.json({ ...traceHeaders(request.headers), cookie }, { headers: { "Cache-Control": "no-store" } });
}
