import { browser as chromium } from "k6/browser";
import exec from "k6/execution";
import { recordCheck, type SetupData } from "../lib/client.ts";
import { sayFailure } from "../lib/failures.ts";
import type { Options } from "../lib/options.ts";

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;
/** Errors of Chromium's own network stack, which no server can cause. */
const OWN_ERROR =
  /net::ERR_(NETWORK_CHANGED|INTERNET_DISCONNECTED|NETWORK_IO_SUSPENDED|NETWORK_ACCESS_DENIED|INSUFFICIENT_RESOURCES|OUT_OF_MEMORY)/;

/** React reports a failed hydration as an error. */
const COLLECT_ERRORS = `self.loadtestErrors = [];
const keep = (text) => loadtestErrors.push(String(text));
addEventListener("error", ({ message, target }) => keep(message || "not loaded: " + (target.src || target.href)), true);
addEventListener("unhandledrejection", ({ reason }) => keep(reason));
addEventListener("securitypolicyviolation", (event) => keep(event.violatedDirective + " blocks " + event.blockedURI));`;

/** Opens each page in Chromium, again if the network failed. A network that always fails is no result. */
export async function browser({ pages, baseUrl, reader }: Options, { run }: SetupData): Promise<void> {
  exec.vu.metrics.tags.journey = "browser";
  for (const path of pages) {
    let errors: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      errors = await errorsOf(baseUrl + path);
      const isNetwork = errors.every((error) => /not loaded|net::/.test(error));
      if (errors.length === 0 || !(isNetwork || errors.some((error) => OWN_ERROR.test(error)))) break;
    }
    if (!errors.some((error) => OWN_ERROR.test(error))) recordCheck("browser_runs", errors.length === 0);
    const failure = { check: "browser_runs", at: `GET ${path}`, traceId: "", text: errors.join("; ") } as const;
    if (errors.length > 0) await sayFailure(reader, run, failure);
  }
}

/** React marks what it has hydrated with a key `__react…`. Only Next's pages must have React. */
const isHydrated = () =>
  !document.documentElement.innerHTML.match(/self\.__next_f|id="__NEXT_DATA__"/) ||
  Array.from(document.querySelectorAll("*")).some((node) => Object.keys(node).some((key) => /^__react/.test(key)));

async function errorsOf(url: string): Promise<string[]> {
  // Chromium does not read SSL_CERT_FILE; k6's own requests check the certificate.
  const context = await chromium.newContext({ ignoreHTTPSErrors: true });
  await context.addInitScript(COLLECT_ERRORS);
  const page = await context.newPage();
  const network: string[] = [];
  try {
    page.on("requestfailed", (request) => network.push(request.failure()?.errorText ?? ""));
    await page.goto(url, { waitUntil: "load", timeout: TIMEOUT_MS });
    const hydrated = await page.waitForFunction(isHydrated, { timeout: TIMEOUT_MS }).then(
      () => [],
      () => ["React has hydrated nothing"],
    );
    const found = await page.evaluate(() => (globalThis as unknown as { loadtestErrors: string[] }).loadtestErrors);
    return [...found, ...hydrated, ...(found.length + hydrated.length > 0 ? network : [])];
  } catch (error) {
    return [String(error), ...network];
  } finally {
    // k6 does not end while a page with a listener is open.
    await page.close();
    await context.close();
  }
}
