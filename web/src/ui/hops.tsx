import type { ReactNode } from "react";
import { TRACE_HEADERS, type TraceHeaders, traceId } from "../console/trace-headers";
import type { Fact } from "./facts";
import styles from "./hops.module.css";

/** Takes hops and renders them in the order in which a request passes them. */
export function Hops({ children }: { children: ReactNode }) {
  return <ol className={styles.hops}>{children}</ol>;
}

type Props = {
  name: string;
  hint: string;
  headers?: TraceHeaders | undefined;
  /** The trace id, if the hop has one without headers. */
  trace?: string | undefined;
  facts?: Fact[] | undefined;
  children: ReactNode;
};

/** Takes a hop's trace headers and other facts and lists them; its children are shown if there is no trace. */
export function Hop({ name, hint, headers, trace, facts = [], children }: Props) {
  const present = TRACE_HEADERS.filter((header) => headers?.[header]);
  const id = trace ?? (headers && present.length > 0 ? traceId(headers) : undefined);
  return (
    <li className={styles.hop}>
      <h2>{name}</h2>
      <p>{hint}</p>
      {id ? (
        <dl>
          <div>
            <dt>trace id</dt>
            <dd className={styles.id}>{id}</dd>
          </div>
          {[...facts, ...present.map((header): Fact => [header, headers?.[header]])].map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className={styles.none}>{children}</p>
      )}
    </li>
  );
}
