# shellcheck shell=sh
# Sourced by the steps of a release that talk to a registry.

# has_no_tls REGISTRY: whether it is one of this machine, which is asked over plain HTTP.
has_no_tls() { case $1 in localhost:* | 127.0.0.1:*) ;; *) return 1 ;; esac; }
