"use client";

import { type Caught, ErrorNotice } from "../ui/error-notice";
import "../ui/base.css";

/** Replaces the root layout if that failed, so it renders its own document. */
export default function GlobalError(caught: Caught) {
  return (
    <html lang="en">
      <body>
        <title>Application error</title>
        <main>
          <ErrorNotice {...caught} />
        </main>
      </body>
    </html>
  );
}
