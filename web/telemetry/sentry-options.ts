import type { init } from "@sentry/nextjs";

/** What `Sentry.init` of the installed SDK takes, in the browser, in Node.js and in the edge runtime. */
export type SentryOptions = NonNullable<Parameters<typeof init>[0]>;
