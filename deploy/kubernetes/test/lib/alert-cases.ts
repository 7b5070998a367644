const minute = (value: number) => `0+${value}x120`;
const day = 86_400;

/**
 * For each alert: the series of a failing and of a healthy namespace, and the minutes at which the alert of the failing one is silent and
 * firing. Values in promtool's notation, one per minute: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
 */
export const cases: Record<
  string,
  { failing: Record<string, string>; healthy: Record<string, string>; silentAt: number; firingAt: number }
> = {
  CulvertPagesFail: {
    failing: {
      'culvert_requests_total{route="page",class="2xx"': minute(97),
      'culvert_requests_total{route="page",class="5xx"': minute(903),
      'culvert_pages_total{kind="page",outcome="shed"': minute(900),
    },
    healthy: {
      'culvert_requests_total{route="page",class="2xx"': minute(99),
      'culvert_requests_total{route="page",class="5xx"': minute(51),
      'culvert_pages_total{kind="page",outcome="shed"': minute(20),
      'culvert_pages_total{kind="prefetch",outcome="shed"': minute(30),
    },
    silentAt: 4,
    firingAt: 10,
  },
  CulvertPagesShed: {
    failing: {
      'culvert_pages_total{kind="page",outcome="accepted"': minute(94),
      'culvert_pages_total{kind="page",outcome="shed"': minute(6),
    },
    healthy: {
      'culvert_pages_total{kind="page",outcome="accepted"': minute(96),
      'culvert_pages_total{kind="page",outcome="shed"': minute(4),
      'culvert_pages_total{kind="prefetch",outcome="shed"': minute(100),
    },
    silentAt: 4,
    firingAt: 10,
  },
  CulvertWebUnreachable: {
    failing: { 'culvert_upstream_failures_total{upstream="web"': minute(12) },
    healthy: {
      'culvert_upstream_failures_total{upstream="web"': minute(3),
      'culvert_upstream_failures_total{upstream="ingest"': minute(600),
    },
    silentAt: 4,
    firingAt: 10,
  },
  CulvertProxyRestarts: {
    failing: { "culvert_start_timestamp_seconds{": "100x10 700x110" },
    healthy: { "culvert_start_timestamp_seconds{": "100x120" },
    silentAt: 10,
    firingAt: 12,
  },
  CulvertEnvelopesFail: {
    failing: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(90),
      'culvert_tunnel_envelopes_total{outcome="queued"': minute(10),
    },
    healthy: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(97),
      'culvert_tunnel_envelopes_total{outcome="failed"': minute(3),
    },
    silentAt: 4,
    firingAt: 10,
  },
  CulvertServerEnvelopesFail: {
    failing: {
      'culvert_server_envelopes_total{outcome="accepted"': minute(90),
      'culvert_server_envelopes_total{outcome="queued"': minute(10),
    },
    healthy: {
      'culvert_server_envelopes_total{outcome="accepted"': minute(97),
      'culvert_server_envelopes_total{outcome="failed"': minute(3),
    },
    silentAt: 4,
    firingAt: 10,
  },
  CulvertEnvelopesRejected: {
    failing: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(40),
      'culvert_tunnel_envelopes_total{outcome="rejected",reason="ingest_status_403"': minute(60),
    },
    healthy: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(10),
      'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="ingest"': minute(90),
    },
    silentAt: 14,
    firingAt: 20,
  },
  CulvertEnvelopesRateLimited: {
    failing: { 'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="proxy"': minute(120) },
    healthy: { 'culvert_tunnel_envelopes_total{outcome="rate_limited",reason="proxy"': minute(30) },
    silentAt: 20,
    firingAt: 25,
  },
  CulvertEnvelopesQueued: {
    failing: { "culvert_spool_oldest_envelope_age_seconds{": minute(60) },
    healthy: { "culvert_spool_oldest_envelope_age_seconds{": "60x120" },
    silentAt: 19,
    firingAt: 22,
  },
  CulvertEnvelopesUndeliverable: {
    failing: { "culvert_spool_undeliverable_envelopes{": "0x2 7x110" },
    healthy: { "culvert_spool_undeliverable_envelopes{": "0x120" },
    silentAt: 5,
    firingAt: 10,
  },
  CulvertDsnsDiffer: {
    failing: { 'culvert_spool_rejected_total{status="403"': minute(5) },
    healthy: { 'culvert_spool_rejected_total{status="503"': minute(5) },
    silentAt: 4,
    firingAt: 10,
  },
  // The series begins with the first drop.
  CulvertEnvelopesDropped: {
    failing: { 'culvert_spool_dropped_total{reason="age"': "_x9 500x110" },
    healthy: {
      'culvert_spool_dropped_total{reason="full"': "7x120",
      'culvert_spool_dropped_total{reason="http_400"': minute(9),
    },
    silentAt: 75,
    firingAt: 65,
  },
  CulvertEnvelopesLost: {
    failing: { 'culvert_spool_lost_total{reason="set_back"': "_x9 5x110" },
    healthy: { 'culvert_spool_lost_total{reason="set_back"': "5x120" },
    silentAt: 75,
    firingAt: 65,
  },
  CulvertCertificateExpires: {
    failing: {
      "culvert_certificate_expiry_timestamp_seconds{": `${13 * day}x120`,
      "culvert_certificate_not_before_timestamp_seconds{": `${-77 * day}x120`,
    },
    // Two of six days: as many as are left when it is renewed.
    healthy: {
      "culvert_certificate_expiry_timestamp_seconds{": `${2 * day}x120`,
      "culvert_certificate_not_before_timestamp_seconds{": `${-4 * day}x120`,
    },
    silentAt: -1,
    firingAt: 1,
  },
};
