#!/bin/sh
# Starts Prometheus. Its rule file is the spec of the PrometheusRule in /manifests: Kubernetes and compose have the same
# alerts.
set -eu
sed -n '/^spec:$/,$ { s/^  //p; }' /manifests/alerts.yaml >/tmp/alerts.yaml
sed "s/INTERNAL_NETWORK/$INTERNAL_NETWORK/" /etc/prometheus/prometheus.yml >/tmp/prometheus.yml
exec prometheus --config.file=/tmp/prometheus.yml --storage.tsdb.path=/prometheus --storage.tsdb.retention.time=15d
