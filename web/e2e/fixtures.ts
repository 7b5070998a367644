import { test as base, expect, type Page } from "@playwright/test";
import { app } from "./stack.ts";

/** What one browser context did: the origins it spoke to and what it wrote on its console as errors. */
interface Watch {
  /** Console errors that a test provokes on purpose; every other one fails the test. */
  expectConsoleError(text: string | RegExp): void;
  /** An origin that a test speaks to on purpose. */
  expectOrigin(origin: string): void;
}

/**
 * Playwright's `test`, with a browser that is watched throughout: it may speak to the app's own origin only, and write no
 * error on its console that the test did not announce.
 */
export const test = base.extend<{ watch: Watch }>({
  watch: [
    async ({ context }, use) => {
      const origins = new Set<string>();
      const errors: string[] = [];
      const expected: (string | RegExp)[] = [];
      context.on("request", (request) => origins.add(new URL(request.url()).origin));
      context.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      context.on("weberror", (error) => errors.push(error.error().message));

      const allowed = [app.origin, app.plain];

      await use({
        expectConsoleError: (text) => expected.push(text),
        expectOrigin: (origin) => allowed.push(origin),
      });

      const unexpected = errors.filter((error) => !expected.some((text) => error.match(text)));
      expect(unexpected, "console errors").toEqual([]);
      expect(
        [...origins].filter((origin) => !allowed.includes(origin)),
        "foreign origins",
      ).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Loads a page and waits until React has taken over its buttons: a click before that does nothing. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("button")].every((button) =>
      Object.keys(button).some((key) => key.startsWith("__reactProps")),
    ),
  );
}

/** The trace id in the page's `sentry-trace` meta tag: 32 hex digits. */
export async function traceOf(page: Page): Promise<string> {
  const content = await page.locator('meta[name="sentry-trace"]').getAttribute("content");
  return content?.match(/^[0-9a-f]{32}(?=-[0-9a-f]{16})/)?.[0] ?? `no trace id in ${content}`;
}

/** The outcome that a control of /test-events shows. */
export function outcomeOf(page: Page, label: string) {
  return page.getByLabel(`Outcome: ${label}`);
}
