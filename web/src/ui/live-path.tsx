"use client";

import { useEffect, useState } from "react";
import { type BrowserChecks, checkFromBrowser } from "../console/browser-checks";
import type { Check } from "../console/check";
import { KEPT_PROBLEM } from "../console/messages";
import { type Checks, PathDiagram, type Places } from "./path-diagram";

type Server = {
  ingest: Check;
  upstream: Check;
  spool: Check;
  /** Whether there is an ingest at all. */
  reporting: boolean;
  throughProxy: boolean;
  /** How long this page's request took from the proxy to the app, where that is known. */
  sinceProxyMs: number | undefined;
};
type Props = { places: Places; server: Server; checkedAt: number };

const NOT_THROUGH_PROXY: Check = {
  state: "bad",
  latencyMs: undefined,
  problem: "This request did not come through the proxy: web is reached directly. Publish the proxy's port only.",
};

/** Takes what the server found; measures the hops that only the browser can, and draws them all, with what is wrong. */
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
    edge: browser?.edge,
    web: server.throughProxy ? toWeb(server.sinceProxyMs, browser?.web) : NOT_THROUGH_PROXY,
    tunnel: taken(browser?.tunnel, server.ingest),
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
        (done && verdict(checks, server.reporting)) || <Asking />
      )}
    </PathDiagram>
  );
}

/** That this page is here says that the hop was well; the browser tells when it no longer is. */
function toWeb(latencyMs: number | undefined, latest: Check | undefined): Check {
  return latest?.state === "bad" ? latest : { state: "good", latencyMs, problem: undefined };
}

/** A tunnel that answers may have given the report to the spool: what the server was told of the ingest holds for both. */
function taken(tunnel: Check | undefined, ingest: Check): Check | undefined {
  return tunnel?.state === "good" && ingest.problem === KEPT_PROBLEM ? ingest : tunnel;
}

function verdict({ edge, web, upstream, tunnel, ingest }: Checks, reporting: boolean): string {
  const hops = reporting ? [edge, web, upstream, tunnel, ingest] : [edge, web, upstream];
  if (hops.some((check) => check?.state === "unknown"))
    return "No hop is known to fail; some did not answer yet. Check again in a moment.";
  return reporting
    ? "Every hop answers."
    : "Every hop of a request answers. Nothing is reported: SENTRY_DSN is not set.";
}

function Asking() {
  return (
    <>
      Asking the hops…<noscript> The browser’s own part needs JavaScript; what the server found is shown.</noscript>
    </>
  );
}
