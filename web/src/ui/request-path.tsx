import type { Settings } from "../telemetry/settings";
import styles from "./request-path.module.css";

type Hop = { name: string; detail: string };

/** Takes the settings and draws which way requests and reports travel in this deployment. */
export function RequestPath({ settings }: { settings: Settings }) {
  const browser = { name: "Browser", detail: "you" };
  const web = { name: "Web", detail: "Next.js" };
  const ingest = { name: "Ingest", detail: settings.dsn?.host ?? "not set" };
  return (
    <section aria-labelledby="path">
      <h2 id="path">The path</h2>
      <div className={styles.lanes}>
        <Lane
          label="Your requests"
          hops={[
            browser,
            { name: "Proxy", detail: "TLS" },
            web,
            { name: "Upstream", detail: settings.upstreamUrl.host },
          ]}
        />
        <Lane label="Browser reports" hops={[browser, { name: "Proxy", detail: settings.tunnelPath }, ingest]} />
        <Lane label="Server reports" hops={[web, ingest]} />
      </div>
    </section>
  );
}

function Lane({ label, hops }: { label: string; hops: Hop[] }) {
  return (
    <div className={styles.lane}>
      <h3>{label}</h3>
      <ol>
        {hops.map(({ name, detail }) => (
          <li key={name}>
            <strong>{name}</strong>
            <span>{detail}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
