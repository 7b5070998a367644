"use client";

import { useEffect, useState } from "react";
import { type Check, UNKNOWN } from "../console/check";
import { QUEUED_IN_SPOOL_PROBLEM } from "../console/messages";
import type { ServerChecks } from "../console/server-checks";
import { type PathChecks, watchPath } from "../console/watch-path";
import { type Checks, PathDiagram, type Places, type Since, type Summary } from "./path-diagram";

/** `sinceProxyMs`: the milliseconds that this page's request took from the proxy to the app, if known. */
type Page = { telemetryOn: boolean; throughProxy: boolean; sinceProxyMs: number | undefined };
type Props = { places: Places; page: Page; first: ServerChecks; openedAt: number };

const NOT_THROUGH_PROXY: Check = {
  state: "bad",
  latencyMs: undefined,
  problem: "This request did not come through the proxy: web is reached directly. Publish the proxy's port only.",
};

const NO_RESPONSE: ServerChecks = { ingest: UNKNOWN, upstream: UNKNOWN, spool: UNKNOWN };

/** Takes the server's first checks, and renders all hops with their problems, kept up to date while the page is open. */
export function LivePath({ places, page, first, openedAt }: Props) {
  const [latest, setLatest] = useState<Partial<PathChecks>>({ server: first });
  const [since, setSince] = useState<Since>();
  useEffect(() => watchPath(first, setLatest), [first]);
  const server = latest.server ?? NO_RESPONSE;
  const { browser } = latest;
  const { queue } = server.spool;
  if (queue && !since) setSince({ at: openedAt, delivered: queue.delivered });

  const checks: Checks = {
    proxy: browser?.proxy,
    web: page.throughProxy ? toWeb(page.sinceProxyMs, browser?.web) : NOT_THROUGH_PROXY,
    tunnel: orQueued(browser?.tunnel, server.ingest),
    ...(places.throughProxy ? serverHops(server.ingest) : { serverTunnel: undefined, ingest: server.ingest }),
    upstream: server.upstream,
    spool: server.spool,
  };
  const problems = [...new Set(Object.values(checks).flatMap((check) => check?.problem ?? []))];
  return (
    <PathDiagram places={places} checks={checks} since={since} summary={summary(checks, places, page.telemetryOn)}>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </PathDiagram>
  );
}

/** This page itself proves that the hop worked; the browser's check overrides that unless it works now. */
function toWeb(latencyMs: number | undefined, latest: Check | undefined): Check {
  return latest && latest.state !== "good" ? latest : { state: "good", latencyMs, problem: undefined };
}

/** A browser cannot tell whether the spool accepted its envelope; the server's check of the ingest can, and counts for both. */
function orQueued(tunnel: Check | undefined, ingest: Check): Check | undefined {
  return tunnel?.state === "good" && ingest.problem === QUEUED_IN_SPOOL_PROBLEM ? ingest : tunnel;
}

/** One envelope of the server tests two hops: without a response the first failed, else the response is about the second. */
function serverHops(ingest: Check): Pick<Checks, "serverTunnel" | "ingest"> {
  const unmeasured = { latencyMs: undefined, problem: undefined };
  if (ingest.unreachable) return { serverTunnel: ingest, ingest: { ...unmeasured, state: "unknown" } };
  return { serverTunnel: { ...unmeasured, state: ingest.state === "unknown" ? "unknown" : "good" }, ingest };
}

function summary(checks: Checks, places: Places, telemetryOn: boolean): Summary {
  const { proxy, web, upstream, tunnel, ingest, spool } = checks;
  const failing = Object.values(checks).filter((check) => check?.state === "bad").length;
  if (failing > 0) return { state: "bad", headline: failing === 1 ? "1 hop fails" : `${failing} hops fail` };
  if (spool?.queue?.queued) return { state: "bad", headline: "Events are queued" };
  const hops = [proxy, web, upstream, ...(telemetryOn ? [tunnel, ingest] : []), ...(places.spool ? [spool] : [])];
  if (hops.some((check) => check?.state === "unknown"))
    return { headline: "No hop is known to fail", note: "Some have not responded yet, or cannot be checked." };
  if (!proxy) return { headline: "The server's hops respond", note: "This browser checks its own with JavaScript." };
  const events = telemetryOn
    ? ", and events reach the ingest."
    : ". No events are sent, because SENTRY_DSN is not set.";
  return { state: "good", headline: "Every hop responds", note: `Requests reach your APIs${events}` };
}
