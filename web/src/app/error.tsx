"use client";

import { unstable_isUnrecognizedActionError as isOutdated } from "next/navigation";
import { type Caught, ErrorNotice } from "../ui/error-notice";
import { NewRelease } from "../ui/new-release";

/** Takes what a page threw. A page of an earlier release is not an error: it is reloaded. */
export default function ErrorBoundary(caught: Caught) {
  return isOutdated(caught.error) ? <NewRelease /> : <ErrorNotice {...caught} />;
}
