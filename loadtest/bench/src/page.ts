import { captureException, init, makeFetchTransport, startSpan } from "@sentry/browser";
import { withOfflineQueue } from "../../../web/telemetry/send/offline-queue.ts";

/** How a page sends: the tunnel on its own origin, whether with the browser's queue of web/telemetry, and the pause between two events. */
export type Sending = Record<"dsn" | "tunnel", string> & { queue: boolean; intervalMs: number };

/** As much as an event of a real app has in breadcrumbs, tags and contexts. */
const extra = { padding: "x".repeat(1_200) };

/** Runs in a browser's page: sends two errors with Sentry's own SDK, then a transaction, and so on. */
export function startSending({ dsn, tunnel, queue, intervalMs }: Sending) {
  const answers: Promise<unknown>[] = [];
  const recorded: typeof fetch = (url, options) => {
    const answer = fetch(url, options);
    answers.push(answer.catch(() => {}));
    return answer;
  };
  const make = (options: Parameters<typeof makeFetchTransport>[0]) => makeFetchTransport(options, recorded);
  const client = init({ dsn, tunnel, tracesSampleRate: 1, transport: queue ? withOfflineQueue(make) : make });
  const ids: string[] = [];
  client?.on("beforeEnvelope", ([header]) => {
    if ("event_id" in header && typeof header.event_id === "string") ids.push(header.event_id);
  });
  let number = 0;
  const timer = setInterval(() => {
    if (++number % 3) captureException(new Error(`Event ${number}`), { extra });
    else startSpan({ name: `Transaction ${number}`, forceTransaction: true, attributes: extra }, () => {});
  }, intervalMs);
  /** Ends the sending; resolves with the ids when no post is open any more, except retries. */
  return async () => {
    clearInterval(timer);
    await Promise.all(answers);
    return ids;
  };
}
