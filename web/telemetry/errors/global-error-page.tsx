"use client";

import { ErrorPage, type ErrorPageProps } from "./error-page.js";

/** The error page for app/global-error, which replaces the root layout if that failed. So it renders its own document. */
export function GlobalErrorPage(caught: ErrorPageProps) {
  return (
    <html lang="en">
      <body>
        <title>Application error</title>
        <main>
          <ErrorPage {...caught} />
        </main>
      </body>
    </html>
  );
}
