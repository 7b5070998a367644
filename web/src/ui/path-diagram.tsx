import type { ReactNode } from "react";
import type { Check } from "../console/check";
import type { Queue } from "../console/messages";
import type { SpoolCheck } from "../console/spool";
import styles from "./path-diagram.module.css";
import { clock, duration } from "./time";

/** The addresses of this deployment's stops. */
export type Places = { tunnel: string; throughProxy: boolean; spool: boolean; ingest: string; upstream: string };

type Hop = "proxy" | "web" | "tunnel" | "serverTunnel" | "ingest" | "upstream";
export type Checks = Record<Hop, Check | undefined> & { spool: SpoolCheck | undefined };

/** What the spool had delivered at a time: the start of the count that the page shows. */
export type Since = { at: number; delivered: number };

type Link = { state: Check["state"] | "checking"; label: string; latencyMs?: number | undefined };
type Stop = { name: string; detail: ReactNode; link: Link | undefined };
type Props = { places: Places; checks: Checks | undefined; since?: Since | undefined; children: ReactNode };

const stop = (name: string, detail: ReactNode, link?: Link): Stop => ({ name, detail, link });

/** Takes the stops and the checks of the hops between them, and draws them; its children summarize the state. */
export function PathDiagram({ places, checks, since, children }: Props) {
  const [browser, web] = [stop("Browser", "you"), stop("Web", "Next.js")];
  const at = (name: string, detail: string, hop: Hop) => stop(name, detail, linkOf(checks?.[hop]));
  const toApi = [at("Web", "Next.js", "web"), at("Your APIs", places.upstream, "upstream")];
  const paths: [label: string, stops: Stop[]][] = [
    ["Requests", [browser, at("Proxy", "TLS", "proxy"), ...toApi]],
    ["Events of the browser", [browser, at("Proxy", places.tunnel, "proxy"), at("Ingest", places.ingest, "tunnel")]],
    [
      "Events of the server",
      [
        web,
        ...(places.throughProxy ? [at("Proxy", "inside", "serverTunnel")] : []),
        at("Ingest", places.ingest, "ingest"),
      ],
    ],
  ];
  if (places.spool) {
    const queue = checks?.spool?.queue;
    const state: Link["state"] = checks?.spool?.state ?? "checking";
    const waiting = { state, label: queue?.queued ? "waiting" : LABELS[state] };
    const content = queue ? <QueueState queue={queue} since={since} /> : "queue";
    const stops = [
      stop("Proxy", "on failure"),
      stop("Spool", content, toSpool(state)),
      stop("Ingest", places.ingest, waiting),
    ];
    paths.push(["While the ingest accepts none", stops]);
  }
  const states = checks ? Object.values(checks).map((check) => check?.state ?? "checking") : ["checking"];
  const state = ["bad", "checking"].find((state) => states.includes(state)) ?? "good";
  return (
    <div className={styles.path}>
      {paths.map(([label, stops]) => (
        <div className={styles.row} key={label}>
          <h3>{label}</h3>
          <ol>
            {stops.map(({ name, detail, link }) => (
              <li key={name}>
                {link && <Arrow {...link} />}
                <div className={styles.stop}>
                  <strong>{name}</strong>
                  <span>{detail}</span>
                </div>
              </li>
            ))}
          </ol>
        </div>
      ))}
      <div className={styles.summary} data-state={state} role="status" aria-label="State of the path">
        {children}
      </div>
    </div>
  );
}

const LABELS = { good: "responds", bad: "fails", unknown: "unknown", checking: "checking…" };

function linkOf(check: Check | undefined): Link {
  const state = check?.state ?? "checking";
  return { state, label: LABELS[state], latencyMs: state === "good" ? check?.latencyMs : undefined };
}

/** A spool whose queue is not empty responds as well. */
function toSpool(state: Link["state"]): Link {
  const reached = state === "bad" ? "good" : state;
  return { state: reached, label: LABELS[reached] };
}

function Arrow({ state, label, latencyMs }: Link) {
  const measured = latencyMs !== undefined;
  return (
    <span className={styles.link} data-state={state}>
      <span className={measured ? "unseen" : undefined}>{label}</span>
      {measured && ` ${latencyMs} ms`}
    </span>
  );
}

function QueueState({ queue: { queued, oldestS, delivered }, since }: { queue: Queue; since: Since | undefined }) {
  const events = (count: number) => (count === 1 ? "1 event" : `${count} events`);
  return (
    <>
      <b>{events(queued)} queued</b>
      <br />
      oldest: {queued > 0 ? duration(oldestS) : "none"}
      <br />
      {since
        ? `${events(Math.max(0, delivered - since.delivered))} delivered since ${clock(since.at)}`
        : `${events(delivered)} delivered`}
    </>
  );
}
