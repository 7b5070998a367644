"use client";

import * as Sentry from "@sentry/nextjs";

class SentryExampleFrontendError extends Error {
  constructor(message) {
    super(message);
    this.name = "SentryExampleFrontendError";
  }
}

export default function Page() {
  return (
    <main>
      <h1>sentry-example-page</h1>
      <button
        type="button"
        onClick={async () => {
          await Sentry.startSpan({ name: "Example Frontend/Backend Span", op: "test" }, async () => {
            await fetch("/api/sentry-example-api");
          });
          throw new SentryExampleFrontendError("This error is raised on the frontend of the example page.");
        }}
      >
        Throw Sample Error
      </button>
    </main>
  );
}
