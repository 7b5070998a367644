import type { ReactNode } from "react";
import type { Check } from "../console/check";
import type { Queue } from "../console/messages";
import type { SpoolCheck } from "../console/spool";
import styles from "./path-diagram.module.css";
import { clock, duration } from "./time";

/** The addresses of this deployment's stops. */
export type Places = { tunnel: string; throughProxy: boolean; spool: boolean; ingest: string; upstream: string };

type Hop = "proxy" | "web" | "tunnel" | "serverTunnel" | "ingest" | "upstream" | "spool";
export type Checks = Record<Hop, Check | undefined> & { spool: SpoolCheck | undefined };

/** What the checks say together. Without a state, some have not finished. */
export type Summary = { state?: "good" | "bad"; headline: string; note?: ReactNode };

/** What the spool had delivered at a time: the start of the count that the page shows. */
export type Since = { at: number; delivered: number };

type Link = { state: Check["state"] | "checking" | "idle"; label: string; latencyMs?: number | undefined };
type Stop = { name: string; detail: ReactNode; link: Link | undefined };
type Props = {
  places: Places;
  checks: Checks | undefined;
  since?: Since | undefined;
  summary: Summary;
  children?: ReactNode;
};

const stop = (name: string, detail: ReactNode, link?: Link): Stop => ({ name, detail, link });

/** Takes the stops and the checks of the hops between them, and draws them below a headline; its children are the problems. */
export function PathDiagram({ places, checks, since, summary, children }: Props) {
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
    const unused = queue ? "idle" : "unknown";
    const stops = [
      stop("Proxy", "on failure"),
      stop("Spool", queue ? <QueueState queue={queue} since={since} /> : "queue", linkOf(checks?.spool)),
      stop("Ingest", places.ingest, queue?.queued ? WAITING : { state: unused, label: unused }),
    ];
    paths.push(["While the ingest accepts none", stops]);
  }
  return (
    <>
      <div
        className={`state ${styles.summary}`}
        data-state={summary.state}
        role="status"
        aria-label="State of the path"
      >
        <h1>{summary.headline}</h1>
        {children || <p>{summary.note}</p>}
      </div>
      <div className={styles.path}>
        {paths.map(([label, stops]) => (
          <div className={styles.row} key={label}>
            <h2>{label}</h2>
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
      </div>
    </>
  );
}

const WAITING: Link = { state: "bad", label: "waiting" };
const LABELS = { good: "responds", bad: "fails", unknown: "unknown", checking: "checking…" };

function linkOf(check: Check | undefined): Link {
  const state = check?.state ?? "checking";
  return { state, label: LABELS[state], latencyMs: state === "good" ? check?.latencyMs : undefined };
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
