import { type BrowserContext, test as base, expect, type Page, type Response } from "@playwright/test";
import { app } from "./stack.ts";

interface Allow {
  consoleError(text: string | RegExp): void;
  origin(origin: string): void;
}

/** The browser may send requests to the app's own origin only, and log no console errors, except those that the test allows. */
export const test = base.extend<{ allow: Allow }>({
  allow: [
    async ({ context }, use) => {
      const origins = new Set<string>();
      const errors: string[] = [];
      const expected: (string | RegExp)[] = [];
      context.on("request", (request) => origins.add(new URL(request.url()).origin));
      context.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      context.on("weberror", (error) => errors.push(error.error().message));

      const allowed = [app.origin];

      await use({
        consoleError: (text) => expected.push(text),
        origin: (origin) => allowed.push(origin),
      });

      const unexpected = errors.filter((error) => !expected.some((text) => error.match(text)));
      expect(unexpected, "console errors").toEqual([]);
      const foreign = [...origins].filter((origin) => !allowed.includes(origin));
      expect(foreign, "foreign origins").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Loads a page and waits until React has hydrated its buttons: a click before that does nothing. */
export async function open(page: Page, url: string): Promise<Response | null> {
  const response = await page.goto(url);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("button")].every((button) =>
      Object.keys(button).some((key) => key.startsWith("__reactProps")),
    ),
  );
  return response;
}

export async function openTestEvents(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await open(page, `${app.origin}/test-events`);
  return page;
}

/** The trace id that the page's document passes on in `Server-Timing`: 32 hex digits. */
export async function traceOf(page: Page): Promise<string> {
  const value = await page.evaluate(() => {
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    return navigation?.serverTiming.find(({ name }) => name === "sentry-trace")?.description;
  });
  return value?.match(/^[0-9a-f]{32}(?=-[0-9a-f]{16})/)?.[0] ?? `no trace id in ${value}`;
}

export function outcomeOf(page: Page, label: string) {
  return page.getByLabel(`Outcome: ${label}`);
}
