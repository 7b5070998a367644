"use client";

import { useEffect, useState } from "react";
import { markShown, reportFromBoundary, serverError, serverEventId } from "./error-boundary.js";
import { ERROR_MESSAGES } from "./error-messages.js";
import { pageRequestId } from "./request-id.js";

/** What Next passes to error.tsx and global-error.tsx: `retry` since version 16, `reset` before. */
export type Caught = { error: unknown; retry?: () => void; reset?: () => void };
export type ErrorPageProps = Caught & {
  /** Texts that replace the English ones. */
  messages?: Partial<Record<keyof typeof ERROR_MESSAGES, string>>;
  /** Where the last link leads: by default the start page. */
  home?: string;
};

/** The app's error page, for app/error: `export { ErrorPage as default }`. It never shows the exception's message. */
export function ErrorPage(caught: ErrorPageProps) {
  const outdated = caught.error instanceof Error && caught.error.name === "UnrecognizedActionError";
  return outdated ? <NewRelease /> : <ErrorNotice {...caught} />;
}

/** A release happened, and the server no longer has the action that this page called. It has not run, and what the user typed is lost. */
function NewRelease() {
  useEffect(() => location.reload(), []);
  return <p role="status">This site has just been updated. Loading the new version…</p>;
}

function ErrorNotice({ error, retry, reset, messages, home = process.env.CULVERT_BASE_PATH || "/" }: ErrorPageProps) {
  const text = { ...ERROR_MESSAGES, ...messages };
  const [onServer] = useState(() => serverError(error, globalThis.document));
  const [ids, setIds] = useState<{ request: string | undefined; event: string | undefined }>();
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
