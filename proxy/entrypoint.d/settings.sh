# shellcheck shell=sh
# The settings: name, default, type, and what its check in values.sh needs. `nginx -t` would accept almost anything.
# Written by `make settings` from deploy/settings/settings.json.
setting SENTRY_DSN '' text
setting INGEST_CA_FILE /etc/ssl/certs/ca-certificates.crt file
setting TUNNEL_PATH /monitoring path 'use a path of your own such as /monitoring or /api/reports'
setting TUNNEL_ALLOWED_DSNS '' list 'separate DSNs by spaces'
setting TUNNEL_ALLOWED_ORIGINS '' list 'separate origins by spaces'
setting TUNNEL_CLIENT_IP forward choice policy 'forward|truncate|withhold'
setting TUNNEL_RATE_PER_CLIENT 50 number 'envelopes per second' 1 999999
setting SERVER_NAME localhost list 'separate names by spaces'
setting HTTPS_PORT 8443 port
setting ACME off choice switch 'on|off'
setting TLS_CERT_FILE '' file
setting TLS_KEY_FILE '' file
setting HTTP3 off choice switch 'on|off'
setting HSTS_MAX_AGE '' number seconds 0 999999999
setting TRUSTED_PROXIES '' list 'separate addresses by spaces'
setting PROXY_PROTOCOL off choice switch 'on|off'
setting SHARED_CACHE auto choice mode 'auto|off'
setting WEB on choice switch 'on|off'
setting BASE_PATH '' path "use the app's basePath from next.config, such as /shop, or leave it empty"
setting MAX_BODY_SIZE 100m size
setting RESPONSE_TIMEOUT 5m duration
setting REQUEST_RATE_PER_CLIENT off limit 'requests per second' 1 999999
setting MAX_CONCURRENT_REQUESTS_PER_CLIENT '' limit requests 1 16000
setting MAX_CONCURRENT_REQUESTS 3000 number requests 1 30000
setting WEBSOCKET_PATH '' path 'use the path where the app opens its WebSockets, such as /socket'
setting WEBSOCKET_ALLOWED_ORIGINS '' list 'separate origins by spaces'
setting CONTENT_SECURITY_POLICY enforce choice mode 'enforce|report|off'
setting INTERNAL_NETWORK '' text
setting WEB_UPSTREAM web:3000 upstream "use the app's address, such as web:3000"
setting WEB_FALLBACK_UPSTREAM '' upstream 'use the name of all replicas of web, such as web-all:3000'
setting WEB_SETS '' list 'separate addresses by spaces'
setting SPOOL_UPSTREAM '' upstream "use the spool's address, such as spool:8082"
setting SPOOL_FALLBACK_UPSTREAM '' upstream "use a name of the spool's ready replicas, such as spool:8082"
