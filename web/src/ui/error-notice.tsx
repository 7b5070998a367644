"use client";

import { useEffect, useState } from "react";
import { claim, isReporting, reportFromBoundary, serverError } from "../telemetry/errors/error-boundary";
import { WORDS } from "../telemetry/errors/error-messages";
import { eventIdOf, pageRequestId } from "../telemetry/errors/request-id";

export type Caught = { error: unknown; retry: () => void };
type Ids = { request: string | undefined; event: string | undefined };

/** Takes what an error boundary caught; reports it and renders the words of the error catalogue, never the exception's. */
export function ErrorNotice({ error, retry }: Caught) {
  const [onServer] = useState(() => serverError(error, globalThis.document));
  const [ids, setIds] = useState<Ids>();
  useEffect(() => {
    const request = pageRequestId();
    // What the server reported bears the request's own id: see telemetry/errors/event-id.ts.
    claim(onServer?.digest);
    const reported = isReporting() ? eventIdOf(request) : undefined;
    setIds({ request, event: onServer ? reported : reportFromBoundary(error) });
  }, [error, onServer]);
  return (
    <div className="notice" role="alert">
      <h1>
        {WORDS.happened.before}
        <span className="whole">{onServer ? WORDS.server : WORDS.browser}</span>
        {WORDS.happened.after}
      </h1>
      {onServer?.digest && (
        <p>
          {WORDS.digest}
          <code>{onServer.digest}</code>
        </p>
      )}
      <p>{WORDS.advice}</p>
      <dl className="quote">
        <dt>{WORDS.request}</dt>
        <dd>{ids?.request ?? WORDS.none}</dd>
        <dt>{WORDS.event}</dt>
        <dd>{ids?.event ?? WORDS.none}</dd>
      </dl>
      <p className="actions">
        <button type="button" onClick={retry}>
          {WORDS.retry}
        </button>
        {/* A full load on purpose: it starts over even when the client's state is what broke. */}
        <a href="/">{WORDS.back}</a>
      </p>
    </div>
  );
}
