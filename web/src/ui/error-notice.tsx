"use client";

import { useEffect, useState } from "react";
import { digestOf } from "../telemetry/digest";
import { isFromServer, reportFromBoundary } from "../telemetry/report";
import { pageRequestId } from "../telemetry/request-id";

export type Caught = { error: unknown; retry: () => void };
type Ids = { request: string | undefined; event: string | undefined };

/** Takes what an error boundary caught; reports it and renders the words of the error catalogue, never the exception's. */
export function ErrorNotice({ error, retry }: Caught) {
  const [fromServer] = useState(() => isFromServer(error));
  const [ids, setIds] = useState<Ids>();
  useEffect(() => {
    const request = pageRequestId();
    // What the server reported bears the request's own id: see telemetry/identity.ts.
    setIds({ request, event: fromServer ? request : reportFromBoundary(error) });
  }, [error, fromServer]);
  const digest = digestOf(error);
  return (
    <div className="notice" role="alert">
      <h1>
        Application error: a <span className="whole">{fromServer ? "server-side" : "client-side"}</span> exception has
        occurred
      </h1>
      {digest && (
        <p>
          Digest: <code>{digest}</code>
        </p>
      )}
      <p>Trying again may help. If it does not, quote these to whoever runs this site:</p>
      <dl className="quote">
        <dt>Request id</dt>
        <dd>{ids?.request ?? "–"}</dd>
        <dt>Event id</dt>
        <dd>{ids?.event ?? "–"}</dd>
      </dl>
      <p className="actions">
        <button type="button" onClick={retry}>
          Try again
        </button>
        {/* A full load on purpose: it starts over even when the client's state is what broke. */}
        <a href="/">Back to the overview</a>
      </p>
    </div>
  );
}
