import { request, unsampledTrace } from "../probe/request.ts";
import type { Target } from "../probe/target.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";

/** Asks for a page within a trace, which is not sampled, and checks that it answers and continues the trace. Never rejects. */
export async function page(target: Target, path: string): Promise<Result[]> {
  const header = unsampledTrace();
  const id = header.slice(0, 32);
  const sent = {
    "sentry-trace": header,
    baggage: `sentry-trace_id=${id},sentry-sampled=false`,
    Accept: "text/html",
  };
  try {
    const { status, body } = await request(target, path, { headers: sent });
    if (status >= 500) return [failed("page", `${path} answers ${status}`, "docker compose logs web")];
    const answered = ok("page", `${path} answers ${status}`);
    const own = trace(body, id, path);
    if (own) return [answered, own];
    // The page for an unknown address is often the only one that is rendered for each request.
    const missing = `${target.basePath}/culvert-doctor-no-such-page`;
    return [answered, trace((await request(target, missing, { headers: sent })).body, id, missing) ?? none(path)];
  } catch (error) {
    return [
      failed("page", `${path} does not answer (${reason(error)})`, "docker compose ps; docker compose logs proxy web"),
    ];
  }
}

/** Returns whether the page's `<meta name="sentry-trace">` names this trace; undefined without one. */
function trace(body: string, id: string, path: string): Result | undefined {
  const continued = /<meta[^>]*name="sentry-trace"[^>]*content="([0-9a-f]{32})-/.exec(body)?.[1];
  if (!continued) return undefined;
  if (continued === id) return ok("trace", `${path} continues it`);
  const fix = "is the page prerendered, or are trace headers removed in front?";
  return failed("trace", `${path} is part of another trace`, fix);
}

const none = (path: string) =>
  unknown(
    "trace",
    `${path} carries no <meta name="sentry-trace">: prerendered, or not instrumented`,
    "PAGE=/path tries another page",
  );
