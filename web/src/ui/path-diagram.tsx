import type { ReactNode } from "react";
import type { Check } from "../console/check";
import type { Queue, SpoolCheck } from "../console/spool";
import styles from "./path-diagram.module.css";
import { clock, duration } from "./time";

/** The addresses of this deployment's stops. */
export type Places = { tunnel: string; throughProxy: boolean; spool: boolean; ingest: string; upstream: string };

type Hop = "proxy" | "web" | "tunnel" | "serverTunnel" | "ingest" | "upstream";
export type Checks = Record<Hop, Check | undefined> & { spool: SpoolCheck | undefined };

/** What the spool had delivered at a time: the start of the count that the page shows. */
export type Since = { at: number; delivered: number };

type Link = { state: Check["state"] | "checking"; label: string; latencyMs?: number | undefined };
type Stop = { name: string; detail: ReactNode; link?: Link };
type Props = { places: Places; checks: Checks | undefined; since?: Since | undefined; children: ReactNode };

/** Takes the stops and the checks of the hops between them, and draws them; its children summarize the state. */
export function PathDiagram({ places, checks, since, children }: Props) {
  const browser = { name: "Browser", detail: "you" };
  const web = { name: "Web", detail: "Next.js" };
  const link = (hop: keyof Checks) => linkOf(checks?.[hop]);
  const proxy = { name: "Proxy", detail: "inside", link: link("serverTunnel") };
  const paths: { label: string; stops: Stop[] }[] = [
    {
      label: "Requests",
      stops: [
        browser,
        { name: "Proxy", detail: "TLS", link: link("proxy") },
        { ...web, link: link("web") },
        { name: "Your APIs", detail: places.upstream, link: link("upstream") },
      ],
    },
    {
      label: "Events of the browser",
      stops: [
        browser,
        { name: "Proxy", detail: places.tunnel, link: link("proxy") },
        { name: "Ingest", detail: places.ingest, link: link("tunnel") },
      ],
    },
    {
      label: "Events of the server",
      stops: [
        web,
        ...(places.throughProxy ? [proxy] : []),
        { name: "Ingest", detail: places.ingest, link: link("ingest") },
      ],
    },
  ];
  if (places.spool) {
    const queue = checks?.spool?.queue;
    const state: Link["state"] = checks?.spool?.state ?? "checking";
    const waiting = { state, label: queue?.queued ? "waiting" : LABELS[state] };
    paths.push({
      label: "While the ingest accepts none",
      stops: [
        { name: "Proxy", detail: "on failure" },
        { name: "Spool", detail: queue ? <QueueState queue={queue} since={since} /> : "queue", link: toSpool(state) },
        { name: "Ingest", detail: places.ingest, link: waiting },
      ],
    });
  }
  const states = checks ? Object.values(checks).map((check) => check?.state ?? "checking") : ["checking"];
  const state = ["bad", "checking"].find((state) => states.includes(state)) ?? "good";
  return (
    <div className={styles.path}>
      {paths.map(({ label, stops }) => (
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
