{{- /* The prefix of all names. */}}
{{- define "culvert.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $prefix := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{ .Values.fullnameOverride | default $prefix | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* Labels that select pods: (list . "web"). They never change: a StatefulSet would have to be deleted for it. */}}
{{- define "culvert.selectorLabels" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/part-of: culvert
{{- end }}

{{- /* Labels of an object: (list . "web"). */}}
{{- define "culvert.labels" -}}
{{- $ := index . 0 -}}
{{ include "culvert.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ $.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" }}
{{- with $.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Name and labels of an object, and its annotations: (list . "web" name annotations). */}}
{{- define "culvert.metadata" -}}
name: {{ include "culvert.fullname" (index . 0) }}-{{ index . 2 }}
labels:
  {{- include "culvert.labels" (list (index . 0) (index . 1)) | nindent 2 }}
{{- with index . 3 }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A Service's address: (list . "web" 3000). The full name, because Nginx resolves no other. The namespace is the pod's, so that
       Kustomize can change it. */}}
{{- define "culvert.address" -}}
{{ include "culvert.fullname" (index . 0) }}-{{ index . 1 }}.$(POD_NAMESPACE).svc.{{ (index . 0).Values.clusterDomain }}:{{ index . 2 }}
{{- end }}

{{- /* An image: (list . .Values.web.image "web.image"). */}}
{{- define "culvert.image" -}}
{{- $ := index . 0 }}{{ $image := index . 1 }}{{ $path := index . 2 -}}
{{- $tag := $image.tag | default $.Chart.AppVersion | toString -}}
{{- if and (eq $tag "local") (not $.Values.localIngest.enabled) }}{{ fail (printf "%s.tag: not set: set %s.repository and %s.tag, or install the chart that `make release` has pushed" $path $path $path) }}{{ end -}}
{{ $image.repository }}:{{ $tag }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The settings of a pod as JSON: those of settings.json, with values.settings in their place. An empty one is left out, because it would
       hide a variable of the image. (list . "web") */}}
{{- define "culvert.settings" -}}
{{- $ := index . 0 }}{{ $settings := dict }}
{{- range $key, $value := get ($.Files.Get "settings.json" | fromJson) (index . 1) | default dict }}
{{- if and $.Values.localIngest.enabled (has $key (list "CONSOLE" "SENTRY_TRACES_SAMPLE_RATE")) }}{{ $value = "" }}{{ end }}
{{- if eq $key "SENTRY_RELEASE" }}{{ $value = $.Values.web.image.tag | default $.Chart.AppVersion }}{{ end }}
{{- with ternary (get $.Values.settings $key) $value (hasKey $.Values.settings $key) }}{{ $_ := set $settings $key (toString .) }}{{ end }}
{{- end }}
{{- toJson $settings }}
{{- end }}

{{- /* The first variables of a pod: `$(NAME)` resolves only those above. */}}
{{- define "culvert.env" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: SENTRY_DSN
  {{- if .Values.localIngest.enabled }}
  value: http://culvert@{{ include "culvert.address" (list . "ingest" 8969) }}/1
  {{- else }}
  valueFrom: { secretKeyRef: { name: {{ .Values.sentry.existingSecret }}, key: dsn } }
  {{- end }}
{{- end }}

{{- /* Where a pod's settings come from: (list . "web"). */}}
{{- define "culvert.envFrom" -}}
- configMapRef: { name: {{ include "culvert.fullname" (index . 0) }}-{{ index . 1 }} }
{{- with (get (index . 0).Values (index . 1)).extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Labels and annotations of pods: (list . "web" values labels). The checksum replaces pods when their settings change. */}}
{{- define "culvert.podMetadata" -}}
{{- $ := index . 0 }}{{ $values := index . 2 -}}
{{- $labels := merge dict (index . 3) (include "culvert.labels" . | fromYaml) ($values.podLabels | default dict) -}}
{{- $checksum := dict "checksum/settings" (include "culvert.settings" . | sha256sum) -}}
labels: {{ toYaml $labels | nindent 2 }}
annotations: {{ toYaml (merge dict $checksum ($values.podAnnotations | default dict)) | nindent 2 }}
{{- end }}

{{- /* What all pods have: (list . "web" values uid). It ends with the securityContext, so that a pod can add to that. */}}
{{- define "culvert.podSpec" -}}
{{- $ := index . 0 }}{{ $values := index . 2 }}{{ $user := index . 3 -}}
serviceAccountName: {{ include "culvert.fullname" $ }}-{{ index . 1 }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $values $key }}
{{ $key }}: {{ toJson . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ $user }}
  runAsGroup: {{ $user }}
  fsGroup: {{ $user }}
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* What all containers have, as the restricted Pod Security Standard demands: (list . values "web.image"). */}}
{{- define "culvert.container" -}}
{{- $values := index . 1 -}}
image: {{ include "culvert.image" (list (index . 0) $values.image (index . 2)) }}
imagePullPolicy: {{ $values.image.pullPolicy | default "IfNotPresent" }}
resources: {{ toYaml $values.resources | nindent 2 }}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
# An invalid setting ends the container with a one-line error, which `kubectl describe pod` shows.
terminationMessagePolicy: FallbackToLogsOnError
{{- end }}

{{- /* Pods of one release spread over nodes and zones; values replace that: (list . "web" values skew). Lost or drained nodes have a
       taint and do not count. */}}
{{- define "culvert.spread" -}}
{{- with (index . 2).topologySpreadConstraints }}
{{- toYaml . }}
{{- else }}
{{- $selector := dict "matchLabels" (include "culvert.selectorLabels" . | fromYaml) -}}
{{- $common := dict "nodeTaintsPolicy" "Honor" "labelSelector" $selector -}}
{{- /* A StatefulSet's pods lack the label that tells a Deployment's revisions apart. */}}
{{- if ne (index . 1) "spool" }}{{ $_ := set $common "matchLabelKeys" (list "pod-template-hash") }}{{ end -}}
- {{ merge (dict "topologyKey" "kubernetes.io/hostname" "maxSkew" (index . 3) "whenUnsatisfiable" "DoNotSchedule") $common | toJson }}
- {{ merge (dict "topologyKey" "topology.kubernetes.io/zone" "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway") $common | toJson }}
{{- end }}
{{- end }}

{{- define "culvert.roles" -}}
{{ list "proxy" (ternary "web" "" .Values.web.enabled) (ternary "spool" "" .Values.spool.enabled) | compact | toJson }}
{{- end }}

{{- /* Without web: what a front passes on. */}}
{{- define "culvert.tunnelPaths" -}}
{{- $tunnel := .Values.settings.TUNNEL_PATH | default (.Files.Get "settings.json" | fromJson).defaults.TUNNEL_PATH }}{{ $paths := list -}}
{{- range concat (list $tunnel (printf "%s/csp" $tunnel)) .Values.proxy.sdkTunnelPaths }}{{ $paths = append $paths (dict "path" . "pathType" "Exact") }}{{ end -}}
{{ ternary list $paths .Values.web.enabled | toJson }}
{{- end }}

{{- /* All host names. */}}
{{- define "culvert.names" -}}
{{ regexSplit "[ ,]+" (.Values.settings.SERVER_NAME | default (.Files.Get "settings.json" | fromJson).defaults.SERVER_NAME | trimAll " ,") -1 | toJson }}
{{- end }}
