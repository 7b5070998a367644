// The running stack on one screen: deploy/host/status.sh. Facts about it come by standard input.
import { text } from "node:stream/consumers";
import { summary } from "./checks/traffic.ts";
import { type Container, type Facts, parseFacts } from "./facts.ts";
import { duration, type Sample, scrape, sum } from "./metrics.ts";
import { mask } from "./output.ts";
import { reason } from "./result.ts";
import { secrets } from "./secrets.ts";
import { effective, mainName } from "./stack.ts";

/** Takes what is known, and returns the lines of the screen. */
export function screen(facts: Facts, proxy: Sample[] | string, spool: Sample[] | string, now = Date.now()): string[] {
  const settings = effective(facts, "proxy");
  // Empty in the container when it is not set.
  const port = settings.HTTPS_PORT || "8443";
  const release = effective(facts, "web").SENTRY_RELEASE;
  return [
    line("address", `https://${mainName(settings)}${port === "443" ? "" : `:${port}`}/`),
    line("release", release || "unnamed (SENTRY_RELEASE)"),
    ...facts.containers.map((container) => line(container.service, describe(container, now))),
    line("certificate", typeof proxy === "string" ? proxy : certificate(proxy, now)),
    line("ingest", `last accepted an envelope ${facts.lastAccepted || "before this log begins"}`),
    ...(typeof proxy === "string" ? [] : pages(proxy)),
    line("envelopes", `last five minutes: ${summary(facts.outcomes) || "none"}`),
    line("spool", typeof spool === "string" ? spool : queue(spool)),
  ];
}

const line = (label: string, value: string) => `  ${label.padEnd(12)} ${value}`;

function describe({ name, status, health, started, restarts, memory }: Container, now: number): string {
  if (status !== "running") return `${name} ${status}`;
  const parts = [`${name} ${health || status} for ${duration((now - Date.parse(started)) / 1000)}`];
  if (memory !== undefined) parts.push(`${Math.round(memory * 100)} % of its memory`);
  if (restarts > 0) parts.push(`restarted ${restarts} times`);
  return parts.join(", ");
}

function certificate(samples: Sample[], now: number): string {
  const end = sum(samples, "culvert_certificate_expiry_timestamp_seconds") * 1000;
  return end > 0
    ? `${Math.floor((end - now) / 86_400_000)} days left, until ${new Date(end).toISOString().slice(0, 10)}`
    : "unknown";
}

/** Without MAX_CONCURRENT_PAGES_PER_REPLICA there is nothing to show. */
function pages(samples: Sample[]): string[] {
  const all = samples.filter(({ name, labels }) => name === "culvert_pages_total" && labels.kind === "page");
  const total = sum(all, "culvert_pages_total");
  if (total === 0) return [];
  const shed = sum(
    all.filter(({ labels }) => labels.outcome === "shed"),
    "culvert_pages_total",
  );
  return [line("pages", `${shed} of ${total} shed (${Math.round((shed / total) * 100)} %) since the proxy started`)];
}

function queue(samples: Sample[]): string {
  const envelopes = sum(samples, "culvert_spool_queued_envelopes");
  if (envelopes === 0) return "empty";
  return `${envelopes} envelopes queued, the oldest for ${duration(sum(samples, "culvert_spool_oldest_envelope_age_seconds"))}`;
}

if (import.meta.main) {
  const facts = parseFacts(await text(process.stdin));
  const [proxy, spool] = await Promise.all(
    (["proxy", "spool"] as const).map((service) =>
      scrape(service).catch((error) => `does not answer (${reason(error)})`),
    ),
  );
  console.log(mask(screen(facts, proxy ?? [], spool ?? []).join("\n"), secrets(facts, process.env)));
}
