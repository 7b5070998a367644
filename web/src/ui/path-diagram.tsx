import type { ReactNode } from "react";
import type { Check } from "../console/check";
import styles from "./path-diagram.module.css";

/** The addresses of this deployment's stops. */
export type Places = { tunnel: string; throughProxy: boolean; ingest: string; upstream: string };

/** The hops, and `spool`, which is not a hop: whether envelopes are queued there. */
export type Checks = Record<"proxy" | "web" | "tunnel" | "ingest" | "upstream" | "spool", Check | undefined>;

type Stop = { name: string; detail: string; by?: keyof Checks };
type Props = { places: Places; checks: Checks | undefined; children: ReactNode };

/** Takes the stops and the checks of the hops between them, and draws them; its children summarize the state. */
export function PathDiagram({ places, checks, children }: Props) {
  const browser = { name: "Browser", detail: "you" };
  const web = { name: "Web", detail: "Next.js" };
  const paths: { label: string; stops: Stop[] }[] = [
    {
      label: "Requests",
      stops: [
        browser,
        { name: "Proxy", detail: "TLS", by: "proxy" },
        { ...web, by: "web" },
        { name: "Your APIs", detail: places.upstream, by: "upstream" },
      ],
    },
    {
      label: "Events of the browser",
      stops: [
        browser,
        { name: "Proxy", detail: places.tunnel, by: "proxy" },
        { name: "Ingest", detail: places.ingest, by: "tunnel" },
      ],
    },
    {
      label: places.throughProxy ? "Events of the server, through the proxy" : "Events of the server",
      stops: [web, { name: "Ingest", detail: places.ingest, by: "ingest" }],
    },
  ];
  const states = checks ? Object.values(checks).map((check) => check?.state ?? "checking") : ["checking"];
  const state = ["bad", "checking"].find((state) => states.includes(state)) ?? "good";
  return (
    <div className={styles.path}>
      {paths.map(({ label, stops }) => (
        <div className={styles.row} key={label}>
          <h3>{label}</h3>
          <ol>
            {stops.map(({ name, detail, by }) => (
              <li key={name}>
                {by && <Link check={checks?.[by]} />}
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

function Link({ check }: { check: Check | undefined }) {
  const state = check?.state ?? "checking";
  const measured = state === "good" && check?.latencyMs !== undefined;
  return (
    <span className={styles.link} data-state={state}>
      <span className={measured ? "unseen" : undefined}>{LABELS[state]}</span>
      {measured && ` ${check.latencyMs} ms`}
    </span>
  );
}
