import { describeResponse } from "../lib/assertions.ts";
import type { Response } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";

/**
 * Checks the response for one of the pages before the run; returns the problem in one line, empty if there is none.
 *
 * A typing error is thus reported in one line instead of ten thousand failed requests.
 */
export function targetProblem(options: Options, page: string, response: Response): string {
  const target = `BASE_URL ${options.baseUrl}`;
  if (response.status === 0) return `${target}: ${unreachable(response.error)}`;
  if (response.status !== 200)
    return `${target}: ${page} responds ${describeResponse(response)}, not 200: set PAGES to pages that exist (README: an app without the console)`;
  if (pageTrace(response.body).trace === undefined)
    return `${target}: ${page} has no sentry-trace meta: not an app with Sentry's tracing, or SENTRY_DSN is not set there`;
  return "";
}

function unreachable(error: string): string {
  if (/no such host|lookup|ENOTFOUND/.test(error)) return "host not found: check the name";
  if (/x509|certificate/.test(error)) return "its certificate is not trusted: set SSL_CERT_FILE to its CA";
  if (/refused/.test(error)) return "connection refused: is the stack up, is the port right?";
  if (/HTTPS|tls|malformed/i.test(error)) return `not TLS, or the wrong port (${error})`;
  return `no response (${error})`;
}
