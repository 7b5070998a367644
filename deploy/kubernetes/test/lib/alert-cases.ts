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
  CulvertProxyGone: {
    failing: { "culvert_start_timestamp_seconds{": "100x10 stale" },
    healthy: { "culvert_start_timestamp_seconds{": "100x120" },
    silentAt: 10,
    firingAt: 14,
  },
  CulvertSpoolGone: {
    failing: { "culvert_spool_disk_bytes{": "100x10 stale" },
    healthy: { "culvert_spool_disk_bytes{": "100x120" },
    silentAt: 14,
    firingAt: 18,
  },
  CulvertSiteDown: {
    failing: {
      'culvert_requests_total{route="page",class="2xx"': minute(2),
      'culvert_requests_total{route="page",class="5xx"': minute(8),
    },
    healthy: {
      'culvert_requests_total{route="page",class="2xx"': minute(8),
      'culvert_requests_total{route="page",class="5xx"': minute(100),
      'culvert_pages_total{kind="page",outcome="shed"': minute(98),
    },
    silentAt: 2,
    firingAt: 8,
  },
  CulvertNoReplica: {
    failing: {
      'kube_deployment_status_replicas_available{deployment="web"': "1x3 0x110",
      'kube_deployment_status_replicas_available{deployment="proxy"': "2x120",
    },
    healthy: {
      'kube_deployment_status_replicas_available{deployment="web"': "1x120",
      'kube_deployment_status_replicas_available{deployment="other"': "0x120",
    },
    silentAt: 3,
    firingAt: 8,
  },
  CulvertPagesFail: {
    failing: {
      'culvert_requests_total{route="page",class="2xx"': minute(97),
      'culvert_requests_total{route="page",class="5xx"': minute(930),
      'culvert_pages_total{kind="page",outcome="shed"': minute(900),
    },
    healthy: {
      'culvert_requests_total{route="page",class="2xx"': minute(99),
      'culvert_requests_total{route="page",class="5xx"': minute(51),
      'culvert_pages_total{kind="page",outcome="shed"': minute(20),
      'culvert_pages_total{kind="prefetch",outcome="shed"': minute(30),
    },
    silentAt: 4,
    firingAt: 12,
  },
  CulvertPagesSlow: {
    failing: {
      'culvert_page_duration_seconds_bucket{le="2.5"': minute(9),
      'culvert_page_duration_seconds_bucket{le="5"': minute(10),
      'culvert_page_duration_seconds_bucket{le="+Inf"': minute(10),
      "culvert_page_duration_seconds_count{": minute(10),
    },
    healthy: {
      'culvert_page_duration_seconds_bucket{le="2.5"': minute(97),
      'culvert_page_duration_seconds_bucket{le="+Inf"': minute(100),
      "culvert_page_duration_seconds_count{": minute(100),
    },
    silentAt: 10,
    firingAt: 22,
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
    firingAt: 12,
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
  CulvertContainerRestarts: {
    failing: { 'kube_pod_container_status_restarts_total{container="web"': "0x9 1x2 2x2 4x100" },
    healthy: { 'kube_pod_container_status_restarts_total{container="web"': "0x9 1x110" },
    silentAt: 9,
    firingAt: 16,
  },
  CulvertMemory: {
    failing: {
      'container_memory_working_set_bytes{pod="web-1",container="web"': "480x120",
      'kube_pod_container_resource_limits{pod="web-1",container="web",resource="memory"': "512x120",
    },
    healthy: {
      'container_memory_working_set_bytes{pod="web-2",container="web"': "400x120",
      'kube_pod_container_resource_limits{pod="web-2",container="web",resource="memory"': "512x120",
    },
    silentAt: 9,
    firingAt: 12,
  },
  CulvertEnvelopesFail: {
    failing: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(80),
      'culvert_tunnel_envelopes_total{outcome="failed"': minute(20),
    },
    healthy: {
      'culvert_tunnel_envelopes_total{outcome="queued"': minute(90),
      'culvert_tunnel_envelopes_total{outcome="failed"': minute(4),
    },
    silentAt: 4,
    firingAt: 12,
  },
  CulvertServerEnvelopesFail: {
    failing: {
      'culvert_server_envelopes_total{outcome="accepted"': minute(80),
      'culvert_server_envelopes_total{outcome="failed"': minute(20),
    },
    healthy: {
      'culvert_server_envelopes_total{outcome="queued"': minute(90),
      'culvert_server_envelopes_total{outcome="failed"': minute(4),
    },
    silentAt: 4,
    firingAt: 12,
  },
  CulvertIngestUnreachable: {
    failing: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(80),
      'culvert_server_envelopes_total{outcome="queued"': minute(20),
    },
    healthy: {
      'culvert_tunnel_envelopes_total{outcome="accepted"': minute(97),
      'culvert_server_envelopes_total{outcome="queued"': minute(4),
    },
    silentAt: 4,
    firingAt: 12,
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
    firingAt: 32,
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
  CulvertSpoolFills: {
    failing: {
      "culvert_spool_disk_bytes{": "70x3 90x110",
      "culvert_spool_limit_bytes{": "100x120",
    },
    healthy: {
      "culvert_spool_disk_bytes{": "70x120",
      "culvert_spool_limit_bytes{": "100x120",
      "culvert_spool_disk_free_bytes{": "1000000000x120",
    },
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
  CulvertCertificateExpired: {
    failing: { "culvert_certificate_expiry_timestamp_seconds{": "600x120" },
    healthy: { "culvert_certificate_expiry_timestamp_seconds{": `${day}x120` },
    silentAt: 9,
    firingAt: 11,
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
  CulvertCertificateRejected: {
    failing: { "culvert_certificate_rejected{": "1x120" },
    healthy: { "culvert_certificate_rejected{": "0x120" },
    silentAt: 9,
    firingAt: 11,
  },
  CulvertRenewalFails: {
    failing: { "culvert_certificate_renewal_failures{": "0 1 2 3x110" },
    healthy: {
      "culvert_certificate_renewal_failures{": "2x120",
      'certmanager_certificate_ready_status{condition="False"': "0x120",
    },
    silentAt: 16,
    firingAt: 20,
  },
};
