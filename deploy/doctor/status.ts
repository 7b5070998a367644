// The running stack on one screen: status.sh. Facts about it come by standard input.
import { text } from "node:stream/consumers";
import { outcomes } from "./checks/traffic.ts";
import { stackTarget } from "./doctor.ts";
import { type Container, type Facts, parseFacts, settingsOf } from "./facts.ts";
import { duration, type Sample, scrape, sum } from "./metrics.ts";
import { mask, reason } from "./result.ts";

/** Takes what is known, and returns the lines of the screen. `proxy` and `spool` are metrics, or why there are none. */
export function screen(facts: Facts, proxy: Sample[] | string, spool: Sample[] | string, now = Date.now()): string[] {
  const line = (label: string, value: string) => `  ${label.padEnd(12)} ${value}`;
  const { target } = stackTarget(settingsOf(facts, "proxy"));
  const accepted = facts.log.findLast(({ outcome }) => outcome === "accepted")?.time;
  return [
    line("address", `https://${target.name}${target.publicPort ? `:${target.publicPort}` : ""}/`),
    line("release", settingsOf(facts, "web").SENTRY_RELEASE || "unnamed (SENTRY_RELEASE)"),
    line("versions", facts.versions),
    ...facts.containers.map((container) => line(container.service, describe(container, now))),
    line("certificate", typeof proxy === "string" ? proxy : certificate(proxy, now)),
    ...(typeof proxy === "string" ? [] : pages(proxy).map((value) => line("pages", value))),
    line(
      "envelopes",
      `last five minutes: ${outcomes(facts.log) || "none"}${accepted ? `, last accepted ${accepted}` : ""}`,
    ),
    line("spool", typeof spool === "string" ? spool : queue(spool)),
  ];
}

function describe({ name, image, status, health, started, restarts, memory }: Container, now: number): string {
  const built = image.created && `, image ${image.tag} of ${image.created.slice(0, 10)}`;
  if (status !== "running") return `${name} ${status}${built}`;
  const parts = [`${name} ${health || status} for ${duration((now - Date.parse(started)) / 1000)}${built}`];
  if (memory !== undefined) parts.push(`${Math.round(memory * 100)} % of its memory`);
  if (restarts > 0) parts.push(`restarted ${restarts} times`);
  return parts.join(", ");
}

function certificate(samples: Sample[], now: number): string {
  const end = sum(samples, "culvert_certificate_expiry_timestamp_seconds") * 1000;
  if (end < now) return `expired on ${new Date(end).toISOString().slice(0, 10)}`;
  return `${Math.floor((end - now) / 86_400_000)} days left, until ${new Date(end).toISOString().slice(0, 10)}`;
}

/** Without MAX_CONCURRENT_PAGES_PER_REPLICA there is nothing to show. */
function pages(samples: Sample[]): string[] {
  const total = sum(samples, "culvert_pages_total", 'kind="page"');
  const shed = sum(samples, "culvert_pages_total", 'kind="page",outcome="shed"');
  return total === 0
    ? []
    : [`${shed} of ${total} shed (${Math.round((shed / total) * 100)} %) since the proxy started`];
}

function queue(samples: Sample[]): string {
  const queued = sum(samples, "culvert_spool_queued_envelopes");
  const age = duration(sum(samples, "culvert_spool_oldest_envelope_age_seconds"));
  return queued === 0 ? "empty" : `${queued} envelopes queued, the oldest for ${age}`;
}

if (import.meta.main) {
  const facts = parseFacts(await text(process.stdin));
  const metrics = (service: "proxy" | "spool") =>
    scrape(service).catch((error) => `does not answer (${reason(error)})`);
  const [proxy, spool] = await Promise.all([metrics("proxy"), metrics("spool")]);
  const environments = [...Object.values(facts.configured), ...facts.containers].map(({ environment }) => environment);
  console.log(mask(screen(facts, proxy, spool).join("\n"), environments));
}
