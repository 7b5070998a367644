import { captureException, flush, logger } from "@sentry/nextjs";

type TestEvent = {
  /** The label of its button. */
  label: string;
  run: () => void;
  /** The category of its send outcome. */
  category: string;
};

/** Above the proxy's limit of 20 MB. An attachment, because the SDK truncates everything else. */
const OVERSIZE_BYTES = 21 * 1024 * 1024;
/** Long enough for the browser to rate the interaction as slow: https://web.dev/articles/inp */
const BLOCKED_MS = 600;
const LOOP = "ResizeObserver loop completed with undelivered notifications.";

const oversized = () => [{ filename: "oversized.bin", data: new Uint8Array(OVERSIZE_BYTES) }];

function throwInBrowser(): never {
  throw new Error("Thrown on purpose in the browser");
}

function blockThread(): void {
  const end = performance.now() + BLOCKED_MS;
  while (performance.now() < end);
}

function writeLog(): void {
  logger.info("Written on purpose in the browser");
  void flush();
}

/** The test events that the browser sends without the server. */
export const BROWSER_TEST_EVENTS = {
  exception: { label: "Throw in the browser", category: "error", run: throwInBrowser },
  rejection: {
    label: "Reject a promise",
    category: "error",
    run: () => void Promise.reject(new Error("Rejected on purpose in the browser")),
  },
  filtered: { label: "Throw a filtered error", category: "error", run: () => captureException(new Error(LOOP)) },
  oversized: {
    label: "Send 21 MB",
    category: "error",
    run: () => captureException(new Error("Oversized on purpose"), { attachments: oversized() }),
  },
  log: { label: "Write a log line", category: "log", run: writeLog },
  vital: { label: "Block the main thread", category: "span", run: blockThread },
} satisfies Record<string, TestEvent>;

export type BrowserTestEventName = keyof typeof BROWSER_TEST_EVENTS;
