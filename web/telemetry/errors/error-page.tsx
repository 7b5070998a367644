"use client";

import { useEffect, useState } from "react";
import { markShown, reportFromBoundary, serverError, serverEventId } from "./error-boundary.js";
import { ERROR_MESSAGES } from "./error-messages.js";
import { NewRelease } from "./new-release.js";
import { pageRequestId } from "./request-id.js";

/** What Next passes to error.tsx and global-error.tsx: `retry` since version 16, `reset` before. */
export type Caught = { error: unknown; retry?: () => void; reset?: () => void };
export type ErrorPageProps = Caught & {
  /** Texts that replace the English ones. */
  messages?: Partial<Record<keyof typeof ERROR_MESSAGES, string>>;
  /** Where the last link leads: by default the start page. */
  home?: string;
};

/** The app's error page, for app/error: `export { ErrorPage as default }`. A page of an earlier release is not an error: it is reloaded. */
export function ErrorPage(caught: ErrorPageProps) {
  const outdated = caught.error instanceof Error && caught.error.name === "UnrecognizedActionError";
  return outdated ? <NewRelease /> : <ErrorNotice {...caught} />;
}

type Ids = { request: string | undefined; event: string | undefined };

/** Takes what an error boundary caught; sends it and renders the error page, which never shows the exception's message. */
function ErrorNotice({ error, retry, reset, messages, home = process.env.CULVERT_BASE_PATH || "/" }: ErrorPageProps) {
  const text = { ...ERROR_MESSAGES, ...messages };
  const [onServer] = useState(() => serverError(error, globalThis.document));
  const [ids, setIds] = useState<Ids>();
  useEffect(() => {
    const request = pageRequestId();
    markShown(onServer?.digest);
    setIds({ request, event: onServer ? serverEventId(request) : reportFromBoundary(error) });
  }, [error, onServer]);
  return (
    <div className="culvert-error" role="alert">
      <h1>{onServer ? text.server : text.browser}</h1>
      {onServer?.digest && (
        <p>
          {text.digest}
          <code>{onServer.digest}</code>
        </p>
      )}
      <p>{text.advice}</p>
      <dl>
        <dt>{text.request}</dt>
        <dd>{ids?.request ?? text.none}</dd>
        <dt>{text.event}</dt>
        <dd>{ids?.event ?? text.none}</dd>
      </dl>
      <p>
        <button type="button" onClick={retry ?? reset}>
          {text.retry}
        </button>{" "}
        {/* A full load on purpose: it also recovers from broken client state. */}
        <a href={home}>{text.back}</a>
      </p>
    </div>
  );
}
