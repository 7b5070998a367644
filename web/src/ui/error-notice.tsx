"use client";

import { useEffect, useState } from "react";
import { isReporting, markShown, reportFromBoundary, serverError } from "../telemetry/errors/error-boundary";
import { ERROR_MESSAGES } from "../telemetry/errors/error-messages";
import { eventIdOf, pageRequestId } from "../telemetry/errors/request-id";

export type Caught = { error: unknown; retry: () => void };
type Ids = { request: string | undefined; event: string | undefined };

/** Takes what an error boundary caught; sends it and renders the error page, which never shows the exception's message. */
export function ErrorNotice({ error, retry }: Caught) {
  const [onServer] = useState(() => serverError(error, globalThis.document));
  const [ids, setIds] = useState<Ids>();
  useEffect(() => {
    const request = pageRequestId();
    // The server's event has the request's id: see telemetry/errors/event-id.ts.
    markShown(onServer?.digest);
    const serverEvent = isReporting() ? eventIdOf(request) : undefined;
    setIds({ request, event: onServer ? serverEvent : reportFromBoundary(error) });
  }, [error, onServer]);
  return (
    <div className="notice" role="alert">
      <h1>
        {ERROR_MESSAGES.happened.before}
        <span className="whole">{onServer ? ERROR_MESSAGES.server : ERROR_MESSAGES.browser}</span>
        {ERROR_MESSAGES.happened.after}
      </h1>
      {onServer?.digest && (
        <p>
          {ERROR_MESSAGES.digest}
          <code>{onServer.digest}</code>
        </p>
      )}
      <p>{ERROR_MESSAGES.advice}</p>
      <dl className="quote">
        <dt>{ERROR_MESSAGES.request}</dt>
        <dd>{ids?.request ?? ERROR_MESSAGES.none}</dd>
        <dt>{ERROR_MESSAGES.event}</dt>
        <dd>{ids?.event ?? ERROR_MESSAGES.none}</dd>
      </dl>
      <p className="actions">
        <button type="button" onClick={retry}>
          {ERROR_MESSAGES.retry}
        </button>
        {/* A full load on purpose: it also recovers from broken client state. */}
        <a href="/">{ERROR_MESSAGES.back}</a>
      </p>
    </div>
  );
}
