// Checks any deployment from outside. Usage: outside/doctor.ts https://app.example.com [--json]
import { certificate } from "../certificate.ts";
import { defaults } from "../defaults.ts";
import { request, type Target } from "../http.ts";
import { answered, isDsn, probe } from "../ingest.ts";
import { attempt, failed, finish, ok, type Result, report, unanswered } from "../result.ts";
import { page, publicAddress, redirect } from "./site.ts";

/** Sends a probe envelope through the tunnel, as a browser does. Without a DSN, only asks whether the tunnel answers. */
export async function tunnel(target: Target, dsn = ""): Promise<Result[]> {
  const { tunnelPath: path } = target;
  if (dsn) return [answered("tunnel", path, (await request(target, path, probe(dsn))).status)];
  const { status } = await request(target, path);
  if (status === 405) return [ok("tunnel", `${path} answers; an envelope is only sent with SENTRY_DSN`)];
  const found = `GET ${path} answers ${status} instead of 405`;
  return [failed("tunnel", found, "set TUNNEL_PATH to the deployment's", unanswered(status, "proxy"))];
}

/** Runs the checks that need only the deployment's address. */
export async function checkOutside(target: Target, { dsn = "", path = "" } = {}): Promise<Result[]> {
  const found = await publicAddress(target);
  if (found[0]?.state === "failed") return found;
  const results = await Promise.all([
    attempt("certificate", () => certificate(target, [target.name])),
    // A port of its own says nothing about the plain one.
    target.publicPort === 443 ? redirect(target) : [],
    attempt("tunnel", () => tunnel(target, dsn)),
    page(target, path || `${target.basePath}/`, "the log of"),
  ]);
  return [...found, ...results.flat()];
}

/** Checks an address, prints the results and sets the exit status. PAGE, SENTRY_DSN and TUNNEL_PATH come from the environment. */
export async function checkAddress(address: string, setting = "address"): Promise<void> {
  const { PAGE, SENTRY_DSN, TUNNEL_PATH } = process.env;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (SENTRY_DSN && !isDsn(SENTRY_DSN))
    report([failed("SENTRY_DSN", "not a DSN", "copy it again from the project's Client Keys page")]);
  else if (url?.protocol === "https:") {
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(url.port) || 443;
    const paths = { basePath: url.pathname.replace(/\/+$/, ""), tunnelPath: TUNNEL_PATH || defaults.TUNNEL_PATH };
    report(await checkOutside({ host: name, port, name, publicPort: port, ...paths }, { dsn: SENTRY_DSN, path: PAGE }));
  } else report([failed(setting, `'${address}' is not an https address`, "use one such as https://app.example.com")]);
  finish();
}

if (import.meta.main) {
  const [address] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  await (address ? checkAddress(address) : checkAddress(process.env.BASE_URL ?? "", "BASE_URL"));
}
