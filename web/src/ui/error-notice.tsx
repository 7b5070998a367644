"use client";

import { useEffect } from "react";
import { digestOf } from "../telemetry/digest";
import { reportFromBoundary } from "../telemetry/report";

export type Caught = { error: unknown; retry: () => void };

/** Takes what an error boundary caught; reports it and renders the words of the error catalogue, never the exception's. */
export function ErrorNotice({ error, retry }: Caught) {
  useEffect(() => reportFromBoundary(error), [error]);
  const digest = digestOf(error);
  return (
    <div className="notice" role="alert">
      <h1>
        Application error: a <span className="whole">{digest ? "server-side" : "client-side"}</span> exception has
        occurred
      </h1>
      {digest && (
        <p>
          Digest: <code>{digest}</code>
        </p>
      )}
      <p>Trying again may help.{digest && " If it does not, quote the digest to whoever runs this site."}</p>
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
