const minute = (value: number) => `0+${value}x120`;
const day = 86_400;

/**
 * For each alert: what a namespace in trouble shows, what a sound one shows, and at which minutes the first is quiet and
 * alarmed. Values as promtool writes them, one a minute: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
 */
export const cases: Record<
  string,
  { trouble: Record<string, string>; sound: Record<string, string>; quiet: number; alarm: number }
> = {
  CulvertPagesFail: {
    trouble: {
      'culvert_requests_total{route="page",class="2xx"': minute(97),
      'culvert_requests_total{route="page",class="5xx"': minute(3),
    },
    sound: {
      'culvert_requests_total{route="page",class="2xx"': minute(99),
      'culvert_requests_total{route="page",class="5xx"': minute(1),
    },
    quiet: 4,
    alarm: 10,
  },
  CulvertWebUnreachable: {
    trouble: { 'culvert_upstream_failures_total{upstream="web"': minute(12) },
    sound: {
      'culvert_upstream_failures_total{upstream="web"': minute(3),
      'culvert_upstream_failures_total{upstream="ingest"': minute(600),
    },
    quiet: 4,
    alarm: 10,
  },
  CulvertEnvelopesFail: {
    trouble: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(90),
      'culvert_tunnel_envelopes_total{outcome="queued"': minute(10),
    },
    sound: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(97),
      'culvert_tunnel_envelopes_total{outcome="failed"': minute(3),
    },
    quiet: 4,
    alarm: 10,
  },
  CulvertServerEnvelopesFail: {
    trouble: {
      'culvert_server_envelopes_total{outcome="accepted"': minute(90),
      'culvert_server_envelopes_total{outcome="queued"': minute(10),
    },
    sound: {
      'culvert_server_envelopes_total{outcome="accepted"': minute(97),
      'culvert_server_envelopes_total{outcome="failed"': minute(3),
    },
    quiet: 4,
    alarm: 10,
  },
  CulvertEnvelopesRejected: {
    trouble: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(40),
      'culvert_tunnel_envelopes_total{outcome="rejected",reason="ingest_status_403"': minute(60),
    },
    sound: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(10),
      'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="ingest"': minute(90),
    },
    quiet: 14,
    alarm: 20,
  },
  CulvertEnvelopesRateLimited: {
    trouble: { 'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="proxy"': minute(120) },
    sound: { 'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="proxy"': minute(30) },
    quiet: 20,
    alarm: 25,
  },
  CulvertEnvelopesQueued: {
    trouble: { "culvert_spool_oldest_envelope_age_seconds{": minute(60) },
    sound: { "culvert_spool_oldest_envelope_age_seconds{": "60x120" },
    quiet: 19,
    alarm: 22,
  },
  CulvertEnvelopesUndeliverable: {
    trouble: { "culvert_spool_undeliverable_envelopes{": "0x2 7x110" },
    sound: { "culvert_spool_undeliverable_envelopes{": "0x120" },
    quiet: 5,
    alarm: 10,
  },
  CulvertDsnsDiffer: {
    trouble: { 'culvert_spool_rejected_total{status="403"': minute(5) },
    sound: { 'culvert_spool_rejected_total{status="503"': minute(5) },
    quiet: 4,
    alarm: 10,
  },
  // The series begins with the first drop.
  CulvertEnvelopesDropped: {
    trouble: { 'culvert_spool_dropped_total{reason="age"': "_x9 500x110" },
    sound: {
      'culvert_spool_dropped_total{reason="full"': "7x120",
      'culvert_spool_dropped_total{reason="http_400"': minute(9),
    },
    quiet: 75,
    alarm: 65,
  },
  CulvertEnvelopesLost: {
    trouble: { 'culvert_spool_lost_total{reason="set_back"': "_x9 5x110" },
    sound: { 'culvert_spool_lost_total{reason="set_back"': "5x120" },
    quiet: 75,
    alarm: 65,
  },
  CulvertCertificateExpires: {
    trouble: { "culvert_certificate_expiry_timestamp_seconds{": `${13 * day}x120` },
    sound: { "culvert_certificate_expiry_timestamp_seconds{": `${15 * day}x120` },
    quiet: -1,
    alarm: 1,
  },
};
