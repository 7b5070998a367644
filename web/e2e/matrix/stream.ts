import type { Browser } from "@playwright/test";

/** Server-sent events that a separate page reads. */
export interface Stream {
  /** The events so far, with "error" for each lost connection. */
  events(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens a page and, in it, the stream. */
export async function openStream(browser: Browser, base: string): Promise<Stream> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${base}/api/cookies`);
  await page.evaluate((url) => {
    const events: string[] = [];
    const source = new EventSource(url);
    source.onmessage = ({ data }) => events.push(data);
    source.onerror = () => events.push("error");
    Object.assign(window, { events });
  }, `${base}/api/events`);
  return {
    events: () => page.evaluate(() => (window as unknown as { events: string[] }).events),
    close: () => context.close(),
  };
}
