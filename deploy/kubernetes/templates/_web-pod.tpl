{{- /* The image of the release before this one: by default, of this one. */}}
{{- define "culvert.previousImage" -}}
{{- $image := .Values.web.image }}{{ $old := .Values.web.previousRelease.image -}}
{{- /* Not sprig's merge, which gives an empty digest that of the other image. */}}
{{- if or $old.tag $old.digest }}{{ $image = dict "repository" ($old.repository | default $image.repository) "tag" $old.tag "digest" $old.digest "pullPolicy" $image.pullPolicy }}{{ end -}}
{{- toJson $image }}
{{- end }}

{{- /* What tells an image's pods from those of another release, as a label: (list . image). */}}
{{- define "culvert.version" -}}
{{- $ := index . 0 }}{{ $image := index . 1 -}}
{{- with $image.digest }}{{ trimPrefix "sha256:" . | trunc 12 }}{{ else }}{{ $image.tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* What web's probes ask: HEALTH_PATH, outside of any sampled trace, or else whether the port is open. */}}
{{- define "culvert.probe" -}}
{{- with .Values.settings.HEALTH_PATH -}}
httpGet:
  path: {{ $.Values.settings.BASE_PATH }}{{ . }}
  port: http
  httpHeaders: [{ name: sentry-trace, value: 0123456789abcdef0123456789abcdef-0123456789abcdef-0 }]
{{- else -}}
tcpSocket: { port: http }
{{- end }}
{{- end }}

{{- /* The pods of web: (list . "web"), or of the release before this one: (list . "web-previous"). */}}
{{- define "culvert.webPod" -}}
{{- $ := index . 0 }}{{ $name := index . 1 }}{{ $values := $.Values.web -}}
{{- $old := include "culvert.previousImage" $ | fromJson }}{{ $image := ternary $old $values.image (eq $name "web-previous") -}}
{{- $files := list (dict "name" "previous-files" "image" $old) }}{{ $labels := dict -}}
{{- if eq $name "web" }}{{ $files = append $files (dict "name" "own-files" "image" $image) }}{{ end -}}
{{- if $values.previousRelease.enabled }}
{{- $labels = dict "app.kubernetes.io/name" $name "app.kubernetes.io/component" "web" "app.kubernetes.io/version" (include "culvert.version" (list $ $image)) }}
{{- end -}}
metadata:
  {{- include "culvert.podMetadata" (list $ "web" $values $labels) | nindent 2 }}
spec:
  # preStop (40 s), then 20 s for open requests, after() and the last events (web/telemetry/send/shutdown.ts).
  terminationGracePeriodSeconds: 60
  {{- if eq $name "web" }}
  topologySpreadConstraints:
    # Two of three pods may share a node: with a skew of 1, one full node would block the scheduling of all twelve.
    {{- include "culvert.spread" (list $ "web" $values (ternary 2 1 $values.autoscaling.enabled)) | nindent 4 }}
  {{- end }}
  {{- include "culvert.podSpec" (list $ "web" $values 1000) | nindent 2 }}
  {{- if $values.previousRelease.enabled }}
  # Hashed files that no request names the release of, such as fonts of a style sheet: each pod also has those of the previous release. Own files
  # come last, so that this release wins for files that both have.
  initContainers:
    {{- range $files }}
    - name: {{ .name }}
      {{- $small := dict "requests" (dict "cpu" "50m" "memory" "64Mi") "limits" (dict "cpu" "1" "memory" "128Mi") }}
      {{- include "culvert.container" (list $ (dict "image" .image "resources" $small) "web.image") | nindent 6 }}
      # Node is the only program that an image must have.
      {{- $wait := "" }}
      {{- if eq .name "own-files" }}
      # No page comes from this pod before all proxies know its release: DNS may say for 30 s that it is not there, a proxy for 5 s.
      {{- $wait = "; setTimeout(() => {}, 35_000)" }}
      {{- end }}
      command: [node, -e, "require('fs').cpSync('/app/.next/static', '/static', { recursive: true }){{ $wait }}"]
      volumeMounts:
        - { name: static, mountPath: /static }
    {{- end }}
  {{- end }}
  containers:
    - name: web
      {{- include "culvert.container" (list $ (dict "image" $image "resources" $values.resources) "web.image") | nindent 6 }}
      ports:
        - { name: http, containerPort: 3000 }
      envFrom:
        {{- include "culvert.envFrom" (list $ "web") | nindent 8 }}
      env:
        {{- include "culvert.env" $ | nindent 8 }}
        {{- if eq $name "web-previous" }}
        - { name: SENTRY_RELEASE, value: {{ $image.tag | default (include "culvert.version" (list $ $image)) | quote }} }
        {{- end }}
        - { name: SERVER_TUNNEL, value: "http://{{ include "culvert.address" (list $ "server-tunnel" 8083) }}/envelopes" }
        {{- if $.Values.spool.enabled }}
        # For the server's events while there is no proxy.
        - { name: SPOOL_UPSTREAM, value: {{ include "culvert.address" (list $ "spool-headless" 8082) }} }
        {{- end }}
        {{- if $.Values.cache.enabled }}
        - { name: CACHE_URL, value: "redis://{{ include "culvert.address" (list $ "cache" 6379) }}" }
        - name: CACHE_PASSWORD
          valueFrom: { secretKeyRef: { name: {{ $.Values.cache.existingSecret }}, key: password } }
        {{- end }}
        {{- if $.Values.sentry.caConfigMap }}
        - { name: NODE_EXTRA_CA_CERTS, value: /run/secrets/ingest-ca/ca.crt }
        {{- end }}
        {{- with $values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      startupProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 2
        timeoutSeconds: 5
        # As long as compose waits for the first answer.
        {{- $time := $.Values.settings.START_TIMEOUT | default ($.Files.Get "settings.json" | fromJson).defaults.START_TIMEOUT }}
        failureThreshold: {{ div (mul (regexFind "[0-9]+" $time) (get (dict "s" 1 "m" 60 "h" 3600 "d" 86400 "w" 604800) (regexFind "[a-z]" $time))) 2 }}
      readinessProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 5
        timeoutSeconds: 5
        {{- if and $values.previousRelease.enabled (eq $name "web") }}
        # 15 s, in which the proxies ask it for its release (proxy/entrypoint.d/watch-sets.sh).
        successThreshold: 4
        {{- end }}
      # Slower than readiness: a busy event loop recovers, and a restart would only move its load to other pods.
      livenessProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        # The proxy stops using this pod when DNS no longer returns it: up to 30 s in the cluster's DNS cache, 5 s in Nginx.
        preStop: { sleep: { seconds: 40 } }
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: cache, mountPath: /app/.next/cache }
        - { name: route-cache, mountPath: /app/.next/server/route-cache }
        {{- if $values.previousRelease.enabled }}
        - { name: static, mountPath: /app/.next/static, readOnly: true }
        {{- end }}
        {{- if $.Values.sentry.caConfigMap }}
        - { name: ingest-ca, mountPath: /run/secrets/ingest-ca, readOnly: true }
        {{- end }}
        {{- with $values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    # Next writes resized images and cached fetches to `cache`, revalidated pages to `route-cache`.
    {{- range list "tmp" "cache" "route-cache" }}
    - name: {{ . }}
      emptyDir: { medium: Memory, sizeLimit: 64Mi }
    {{- end }}
    {{- if $values.previousRelease.enabled }}
    - name: static
      emptyDir: { sizeLimit: 512Mi }
    {{- end }}
    {{- with $.Values.sentry.caConfigMap }}
    - name: ingest-ca
      configMap: { name: {{ . }} }
    {{- end }}
    {{- with $values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}
