"use client";

import { useEffect, useState } from "react";
import { type BrowserChecks, checkFromBrowser } from "../console/browser-checks";
import type { Check } from "../console/check";
import { QUEUED_IN_SPOOL_PROBLEM } from "../console/messages";
import { type Checks, PathDiagram, type Places } from "./path-diagram";

type Server = {
  ingest: Check;
  upstream: Check;
  spool: Check;
  /** Whether a DSN is set. */
  telemetryOn: boolean;
  throughProxy: boolean;
  /** The milliseconds that this page's request took from the proxy to the app, if known. */
  sinceProxyMs: number | undefined;
};
type Props = { places: Places; server: Server; checkedAt: number };

const NOT_THROUGH_PROXY: Check = {
  state: "bad",
  latencyMs: undefined,
  problem: "This request did not come through the proxy: web is reached directly. Publish the proxy's port only.",
};

/** Takes the server's checks, adds those of the browser, and renders all hops with their problems. */
export function LivePath({ places, server, checkedAt }: Props) {
  const [found, setFound] = useState<{ of: number; checks: BrowserChecks }>();
  useEffect(() => {
    let current = true;
    checkFromBrowser().then((checks) => current && setFound({ of: checkedAt, checks }));
    return () => {
      current = false;
    };
  }, [checkedAt]);

  const browser = found?.checks;
  const checks: Checks = {
    proxy: browser?.proxy,
    web: server.throughProxy ? toWeb(server.sinceProxyMs, browser?.web) : NOT_THROUGH_PROXY,
    tunnel: orQueued(browser?.tunnel, server.ingest),
    ingest: server.ingest,
    upstream: server.upstream,
    spool: server.spool,
  };
  const problems = [...new Set(Object.values(checks).flatMap((check) => check?.problem ?? []))];
  const done = found?.of === checkedAt;
  return (
    <PathDiagram places={places} checks={checks}>
      {problems.length > 0 ? (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      ) : (
        (done && summary(checks, server.telemetryOn)) || <Checking />
      )}
    </PathDiagram>
  );
}

/** This page itself proves that the hop worked; the browser's check overrides that if it fails now. */
function toWeb(latencyMs: number | undefined, latest: Check | undefined): Check {
  return latest?.state === "bad" ? latest : { state: "good", latencyMs, problem: undefined };
}

/** A browser cannot tell whether the spool accepted its envelope; the server's check of the ingest can, and counts for both. */
function orQueued(tunnel: Check | undefined, ingest: Check): Check | undefined {
  return tunnel?.state === "good" && ingest.problem === QUEUED_IN_SPOOL_PROBLEM ? ingest : tunnel;
}

function summary({ proxy, web, upstream, tunnel, ingest }: Checks, telemetryOn: boolean): string {
  const hops = telemetryOn ? [proxy, web, upstream, tunnel, ingest] : [proxy, web, upstream];
  if (hops.some((check) => check?.state === "unknown"))
    return "No hop is known to fail, but some have not responded yet. Check again in a moment.";
  return telemetryOn
    ? "Every hop responds."
    : "Every hop of a request responds. No events are sent, because SENTRY_DSN is not set.";
}

function Checking() {
  return (
    <>
      Checking the hops…<noscript> The checks of the browser need JavaScript; those of the server are shown.</noscript>
    </>
  );
}
