import styles from "./facts.module.css";
import { utc } from "./time";

export type Fact = { name: string; value: string; time?: boolean };

/** Takes named values and renders them as a list of terms. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(({ name, value, time }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{time ? <time dateTime={value}>{utc(value)}</time> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
