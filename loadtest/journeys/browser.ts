import { browser as chromium } from "k6/browser";
import { passExample, recordCheck } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";

const TIMEOUT_MS = 30_000;

/** Collects what a page's scripts throw, what its policy blocks, and files that do not load. React reports a failed hydration as an error. */
const COLLECT_ERRORS = `self.loadtestErrors = [];
const keep = (text) => loadtestErrors.push(String(text));
addEventListener("error", ({ message, target }) => keep(message || "not loaded: " + (target.src || target.href)), true);
addEventListener("unhandledrejection", ({ reason }) => keep(reason));
addEventListener("securitypolicyviolation", (event) => keep(event.violatedDirective + " blocks " + event.blockedURI));`;

/** Opens each page in Chromium. Once more if only the network failed, which is no fault of the page. */
export async function browser({ pages, baseUrl }: Options): Promise<void> {
  for (const path of pages) {
    let errors = await errorsOf(baseUrl + path);
    if (errors.length > 0 && errors.every((one) => /^not loaded|net::/.test(one)))
      errors = await errorsOf(baseUrl + path);
    recordCheck("browser_runs", errors.length === 0);
    if (errors.length > 0) passExample("browser_runs", `GET ${path}`, "", errors.join("; "));
  }
}

/** React marks each element that it has hydrated with a key that begins with __react. */
const isHydrated = () =>
  Array.from(document.querySelectorAll("*")).some((one) => Object.keys(one).some((key) => /^__react/.test(key)));

async function errorsOf(url: string): Promise<string[]> {
  // Chromium does not read SSL_CERT_FILE; k6's own requests check the certificate.
  const context = await chromium.newContext({ ignoreHTTPSErrors: true });
  try {
    await context.addInitScript(COLLECT_ERRORS);
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "load", timeout: TIMEOUT_MS });
    const hydrated = await page.waitForFunction(isHydrated, { timeout: TIMEOUT_MS }).then(
      () => [],
      () => ["React has hydrated nothing"],
    );
    const found = await page.evaluate(() => (globalThis as unknown as { loadtestErrors: string[] }).loadtestErrors);
    return [...found, ...hydrated];
  } catch (error) {
    return [String(error)];
  } finally {
    await context.close();
  }
}
