import { type BrowserChecks, checkFromBrowser } from "./browser-checks";
import type { ServerChecks } from "./server-checks";

/** The route that returns the server's checks. Below /healthz no request is traced, and so no event is queued for it. */
export const CHECKS_ROUTE = "/healthz/path";

const INTERVAL_MS = 2_000;

/** The latest checks; those of the server are missing while it does not respond. */
export type PathChecks = { server: ServerChecks | undefined; browser: BrowserChecks };

/**
 * Takes the server's first checks and passes on all checks, every two seconds while the page is visible. The browser repeats its own
 * only if one fails or the state of the ingest changes, because they send envelopes. Returns a function that ends it.
 */
export function watchPath(first: ServerChecks, report: (checks: PathChecks) => void): () => void {
  let watching = true;
  const watch = async () => {
    let server: ServerChecks | undefined = first;
    let browser: BrowserChecks | undefined;
    for (let before: string | undefined; watching; ) {
      const now = server?.ingest.state ?? "no response";
      const failed = browser && Object.values(browser).some(({ state }) => state === "bad");
      if (!browser || failed || now !== before) browser = await checkFromBrowser();
      before = now;
      if (watching) report({ server, browser });
      do await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      while (watching && document.hidden);
      // One lost request says nothing of the hops.
      if (watching) server = (await fetchChecks()) ?? (await fetchChecks());
    }
  };
  void watch();
  return () => {
    watching = false;
  };
}

async function fetchChecks(): Promise<ServerChecks | undefined> {
  const response = await fetch(CHECKS_ROUTE, { cache: "no-store" }).catch(() => undefined);
  return response?.ok ? response.json().catch(() => undefined) : undefined;
}
