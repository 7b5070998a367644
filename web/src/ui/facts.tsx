import type { ReactNode } from "react";
import styles from "./facts.module.css";

export type Fact = [name: string, value: ReactNode];

/** Takes named values and renders them as a list of terms. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
