import type { ReactNode } from "react";
import type { Check } from "../console/check";
import styles from "./path-diagram.module.css";

/** How the stops of this deployment are called. */
export type Places = { tunnel: string; throughProxy: boolean; ingest: string; upstream: string };

/** The hops, and `spool`, which is none: whether reports wait there. */
export type Checks = Record<"edge" | "web" | "tunnel" | "ingest" | "upstream" | "spool", Check | undefined>;

type Stop = { name: string; detail: string; by?: keyof Checks };
type Props = { places: Places; checks: Checks | undefined; children: ReactNode };

/** Takes the stops and what is known of the hops between them, and draws them; its children say what that means. */
export function PathDiagram({ places, checks, children }: Props) {
  const browser = { name: "Browser", detail: "you" };
  const web = { name: "Web", detail: "Next.js" };
  const lanes: { label: string; stops: Stop[] }[] = [
    {
      label: "Requests",
      stops: [
        browser,
        { name: "Proxy", detail: "TLS", by: "edge" },
        { ...web, by: "web" },
        { name: "Your APIs", detail: places.upstream, by: "upstream" },
      ],
    },
    {
      label: "The browser’s reports",
      stops: [
        browser,
        { name: "Proxy", detail: places.tunnel, by: "edge" },
        { name: "Ingest", detail: places.ingest, by: "tunnel" },
      ],
    },
    {
      label: places.throughProxy ? "The server’s reports, through the proxy" : "The server’s reports",
      stops: [web, { name: "Ingest", detail: places.ingest, by: "ingest" }],
    },
  ];
  const states = checks ? Object.values(checks).map((check) => check?.state ?? "asking") : ["asking"];
  const state = ["bad", "asking"].find((state) => states.includes(state)) ?? "good";
  return (
    <div className={styles.path}>
      {lanes.map(({ label, stops }) => (
        <div className={styles.lane} key={label}>
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
      <div className={styles.verdict} data-state={state} role="status" aria-label="State of the path">
        {children}
      </div>
    </div>
  );
}

const WORDS = { good: "answers", bad: "fails", unknown: "unknown", asking: "asking…" };

function Link({ check }: { check: Check | undefined }) {
  const state = check?.state ?? "asking";
  const measured = state === "good" && check?.latencyMs !== undefined;
  return (
    <span className={styles.link} data-state={state}>
      <span className={measured ? "unseen" : undefined}>{WORDS[state]}</span>
      {measured && ` ${check.latencyMs} ms`}
    </span>
  );
}
