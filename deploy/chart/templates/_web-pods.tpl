{{- /* The image of the release before this one: by default, of this one. */}}
{{- define "culvert.previousImage" -}}
{{- $own := .Values.web.image }}{{ $old := .Values.web.previousRelease.image -}}
{{- if or $old.tag $old.digest }}
{{- dict "repository" ($old.repository | default $own.repository) "tag" $old.tag "digest" $old.digest | toJson }}
{{- else }}
{{- toJson $own }}
{{- end }}
{{- end }}

{{- /* What tells an image's pods from those of another release, as a label: (list . image). */}}
{{- define "culvert.version" -}}
{{- $ := index . 0 }}{{ $image := index . 1 -}}
{{- with $image.digest }}{{ trimPrefix "sha256:" . | trunc 12 }}{{ else }}{{ $image.tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* The pods of web: (list . "web"), or of the release before this one: (list . "web-previous"). */}}
{{- define "culvert.webPods" -}}
{{- $ := index . 0 }}{{ $name := index . 1 }}{{ $values := $.Values.web -}}
{{- $previous := $values.previousRelease }}{{ $old := include "culvert.previousImage" $ | fromJson -}}
{{- $image := $values.image }}{{ $files := list (dict "name" "previous-files" "image" $old) (dict "name" "own-files" "image" $values.image) -}}
{{- $labels := dict -}}
{{- if eq $name "web-previous" }}{{ $image = $old }}{{ $files = list (first $files) }}{{ end -}}
{{- if $previous.enabled }}
{{- $labels = dict "app.kubernetes.io/name" $name "app.kubernetes.io/component" "web" "app.kubernetes.io/version" (include "culvert.version" (list $ $image)) }}
{{- end -}}
metadata:
  {{- include "culvert.podMetadata" (list $ "web" "settings/web.env" $labels) | nindent 2 }}
spec:
  {{- include "culvert.podSpec" (list $ "web") | nindent 2 }}
  # preStop (40 s), then 20 s for open requests, after() and the last events.
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- if eq $name "web" }}
  topologySpreadConstraints:
    # Two of three pods may share a node: with a skew of 1, one full node would block the scheduling of all twelve.
    {{- include "culvert.spread" (list $ "web" (ternary 2 1 $values.autoscaling.enabled)) | nindent 4 }}
  {{- end }}
  {{- if $previous.enabled }}
  initContainers:
    # Own files last, so that this release wins for files that both have.
    {{- range $files }}
    - name: {{ .name }}
      image: {{ include "culvert.image" (list $ .image "web.image") }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: [node, -e, "require('fs').cpSync('/app/.next/static', '/static', { recursive: true })"]
      resources:
        requests: { cpu: 50m, memory: 64Mi }
        limits: { cpu: "1", memory: 128Mi }
      securityContext:
        {{- include "culvert.containerSecurity" $ | nindent 8 }}
      terminationMessagePolicy: FallbackToLogsOnError
      volumeMounts:
        - { name: static, mountPath: /static }
    {{- end }}
  {{- end }}
  containers:
    - name: web
      image: {{ include "culvert.image" (list $ $image "web.image") }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: 3000 }
      envFrom:
        {{- include "culvert.envFrom" (list $ "web") | nindent 8 }}
      env:
        {{- if eq $name "web-previous" }}
        - { name: SENTRY_RELEASE, value: {{ $image.tag | default (include "culvert.version" (list $ $image)) | quote }} }
        {{- end }}
        - name: SERVER_TUNNEL
          value: http://{{ include "culvert.address" (list $ "server-tunnel" 8083) }}/envelopes
        {{- include "culvert.dsn" $ | nindent 8 }}
        {{- if $.Values.spool.enabled }}
        - name: SPOOL_UPSTREAM
          value: {{ include "culvert.address" (list $ "spool-headless" 8082) }}
        {{- end }}
        {{- if $.Values.cache.enabled }}
        - name: CACHE_URL
          value: redis://{{ include "culvert.address" (list $ "cache" 6379) }}
        - name: CACHE_PASSWORD
          valueFrom: { secretKeyRef: { name: {{ $.Values.cache.existingSecret }}, key: password } }
        {{- end }}
        {{- if $.Values.sentry.caConfigMap }}
        - { name: NODE_EXTRA_CA_CERTS, value: /run/secrets/ingest-ca/ca.crt }
        {{- end }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources: {{ toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "culvert.containerSecurity" $ | nindent 8 }}
      startupProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 30
      readinessProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 5
        timeoutSeconds: 5
      # Slower than readiness: a busy event loop recovers, and a restart would only move its load to other pods.
      livenessProbe:
        {{- include "culvert.probe" $ | nindent 8 }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        # The proxy stops using this pod when DNS no longer returns it: up to 30 s in the cluster's DNS cache, 5 s in Nginx.
        preStop: { sleep: { seconds: 40 } }
      terminationMessagePolicy: FallbackToLogsOnError
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: cache, mountPath: /app/.next/cache }
        - { name: route-cache, mountPath: /app/.next/server/route-cache }
        {{- if $previous.enabled }}
        - { name: static, mountPath: /app/.next/static, readOnly: true }
        {{- end }}
        {{- if $.Values.sentry.caConfigMap }}
        - { name: ingest-ca, mountPath: /run/secrets/ingest-ca, readOnly: true }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { medium: Memory, sizeLimit: 64Mi }
    # Next writes to these: resized images and cached fetches, and revalidated pages.
    - name: cache
      emptyDir: { medium: Memory, sizeLimit: 64Mi }
    - name: route-cache
      emptyDir: { medium: Memory, sizeLimit: 64Mi }
    {{- if $previous.enabled }}
    - name: static
      emptyDir: { sizeLimit: 512Mi }
    {{- end }}
    {{- with $.Values.sentry.caConfigMap }}
    - name: ingest-ca
      configMap: { name: {{ . }} }
    {{- end }}
{{- end }}
