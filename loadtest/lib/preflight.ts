import { said } from "./judge.ts";
import type { Knobs } from "./knobs.ts";
import { pageTrace } from "./page-trace.ts";
import type { Answer } from "./visitor.ts";

/**
 * Says in one line why a target can't be tested, from its answer for one of the pages; empty when it can.
 *
 * Asked before the run, so that a typing error is one line and not ten thousand failed requests.
 */
export function unfit(knobs: Knobs, page: string, answer: Answer): string {
  const target = `BASE_URL ${knobs.baseUrl}`;
  if (answer.status === 0) return `${target}: ${unreachable(answer.error)}`;
  if (answer.status !== 200)
    return `${target}: ${page} answers ${said(answer)}, not 200: name pages that exist in PAGES (README: an app without the console)`;
  if (pageTrace(answer.body).trace === undefined)
    return `${target}: ${page} has no sentry-trace meta: not an app with Sentry's tracing, or SENTRY_DSN is not set there`;
  return "";
}

function unreachable(error: string): string {
  if (/no such host|lookup|ENOTFOUND/.test(error)) return "host not found: check the name";
  if (/x509|certificate/.test(error)) return "its certificate is not trusted: name its CA in SSL_CERT_FILE";
  if (/refused/.test(error)) return "nothing listens there: is the stack up, is the port right?";
  if (/HTTPS|tls|malformed/i.test(error)) return `no TLS there, or the wrong port (${error})`;
  return `no answer (${error})`;
}
