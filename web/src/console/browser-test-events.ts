import { captureException, flush, logger } from "@sentry/nextjs";
import type { Delivery } from "../telemetry/send/send-outcomes";

type TestEvent = {
  /** What the button says. */
  label: string;
  act: () => void;
  /** Whether a delivery, made after `act`, is what became of it. */
  isMine: (delivery: Delivery) => boolean;
};

/** More than the 20 MB that the proxy takes, after the SDK's own limits on everything but attachments. */
const OVERSIZE_BYTES = 21 * 1024 * 1024;
/** Long enough for the browser to call the interaction slow: https://web.dev/articles/inp */
const BLOCKED_MS = 600;

const isError = ({ category }: Delivery) => category.startsWith("error");

/** The test events that a page can send by itself. */
export const BROWSER_TEST_EVENTS = {
  exception: {
    label: "Throw in the browser",
    isMine: isError,
    act: () => {
      throw new Error("Thrown on purpose in the browser");
    },
  },
  rejection: {
    label: "Reject a promise",
    isMine: isError,
    act: () => {
      Promise.reject(new Error("Rejected on purpose in the browser"));
    },
  },
  noise: {
    label: "Make noise",
    isMine: isError,
    act: () => {
      captureException(new Error("ResizeObserver loop completed with undelivered notifications."));
    },
  },
  oversized: {
    label: "Send 21 MB",
    isMine: isError,
    act: () => {
      const attachments = [{ filename: "oversized.bin", data: new Uint8Array(OVERSIZE_BYTES) }];
      captureException(new Error("Oversized on purpose"), { attachments });
    },
  },
  log: {
    label: "Write a log line",
    isMine: ({ category }) => category === "log",
    act: () => {
      logger.info("Written on purpose in the browser");
      void flush();
    },
  },
  vital: {
    label: "Be slow to respond",
    isMine: ({ category }) => category === "span",
    act: () => {
      const end = performance.now() + BLOCKED_MS;
      while (performance.now() < end);
    },
  },
} satisfies Record<string, TestEvent>;

export type BrowserTestEventName = keyof typeof BROWSER_TEST_EVENTS;
