import type { SendOutcome } from "@culvert/nextjs/outcomes";
import { captureException, flush, logger } from "@sentry/nextjs";

type TestEvent = {
  /** The label of its button. */
  label: string;
  run: () => void;
  /** Whether a send outcome recorded after `run` belongs to it. */
  isMine: (outcome: SendOutcome) => boolean;
};

/** Above the proxy's limit of 20 MB. An attachment, because the SDK truncates everything else. */
const OVERSIZE_BYTES = 21 * 1024 * 1024;
/** Long enough for the browser to rate the interaction as slow: https://web.dev/articles/inp */
const BLOCKED_MS = 600;

const isError = ({ category }: SendOutcome) => category.startsWith("error");

/** The test events that the browser sends without the server. */
export const BROWSER_TEST_EVENTS = {
  exception: {
    label: "Throw in the browser",
    isMine: isError,
    run: () => {
      throw new Error("Thrown on purpose in the browser");
    },
  },
  rejection: {
    label: "Reject a promise",
    isMine: isError,
    run: () => {
      Promise.reject(new Error("Rejected on purpose in the browser"));
    },
  },
  filtered: {
    label: "Throw a filtered error",
    isMine: isError,
    run: () => {
      captureException(new Error("ResizeObserver loop completed with undelivered notifications."));
    },
  },
  oversized: {
    label: "Send 21 MB",
    isMine: isError,
    run: () => {
      const attachments = [{ filename: "oversized.bin", data: new Uint8Array(OVERSIZE_BYTES) }];
      captureException(new Error("Oversized on purpose"), { attachments });
    },
  },
  log: {
    label: "Write a log line",
    isMine: ({ category }) => category === "log",
    run: () => {
      logger.info("Written on purpose in the browser");
      void flush();
    },
  },
  vital: {
    label: "Block the main thread",
    isMine: ({ category }) => category === "span",
    run: () => {
      const end = performance.now() + BLOCKED_MS;
      while (performance.now() < end);
    },
  },
} satisfies Record<string, TestEvent>;

export type BrowserTestEventName = keyof typeof BROWSER_TEST_EVENTS;
