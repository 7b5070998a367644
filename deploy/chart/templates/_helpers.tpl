{{- define "culvert.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}
{{- end }}

{{- /* Labels that select pods: (list . "web"). */}}
{{- define "culvert.selectorLabels" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{- /* Labels of an object: (list . "web"). */}}
{{- define "culvert.labels" -}}
{{- $ := index . 0 -}}
{{ include "culvert.selectorLabels" . }}
app.kubernetes.io/part-of: culvert
app.kubernetes.io/managed-by: {{ $.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" }}
{{- with $.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Name, labels and annotations of an object: (list . "web" name annotations). */}}
{{- define "culvert.metadata" -}}
{{- $ := index . 0 -}}
name: {{ include "culvert.fullname" $ }}-{{ index . 2 }}
namespace: {{ $.Release.Namespace }}
labels:
  {{- include "culvert.labels" (list $ (index . 1)) | nindent 2 }}
{{- with index . 3 }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The address of a Service of this release: (list . "web" 3000). Nginx resolves full names only. */}}
{{- define "culvert.address" -}}
{{- $ := index . 0 -}}
{{ include "culvert.fullname" $ }}-{{ index . 1 }}.{{ $.Release.Namespace }}.svc.{{ $.Values.clusterDomain }}:{{ index . 2 }}
{{- end }}

{{- /* An image: (list . .Values.web.image "web.image"). */}}
{{- define "culvert.image" -}}
{{- $ := index . 0 }}{{ $image := index . 1 }}{{ $path := index . 2 -}}
{{- $tag := $image.tag | default $.Chart.AppVersion | toString -}}
{{- if and (eq $tag "local") (not $.Values.localIngest.enabled) }}{{ fail (printf "%s.tag: not set: set %s.repository and %s.tag, or install the chart that `make release` has pushed" $path $path $path) }}{{ end -}}
{{ $image.repository }}:{{ $tag }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* The release of events: the tag of web's image. */}}
{{- define "culvert.release" -}}
{{ .Values.settings.SENTRY_RELEASE | default .Values.web.image.tag | default .Chart.AppVersion }}
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

{{- /* The data of a ConfigMap: the lines of deploy/settings, with values.settings in their place: (list . "settings/web.env"). */}}
{{- define "culvert.settings" -}}
{{- $ := index . 0 -}}
{{- range regexFindAll "(?m)^[A-Z0-9_]+=.*$" ($.Files.Get (index . 1)) -1 }}
{{- $pair := splitn "=" 2 . }}
{{- $value := $pair._1 }}
{{- if and $.Values.localIngest.enabled (has $pair._0 (list "CONSOLE" "SENTRY_TRACES_SAMPLE_RATE")) }}{{ $value = "" }}{{ end }}
{{- if eq $pair._0 "SENTRY_RELEASE" }}{{ $value = include "culvert.release" $ }}{{ end }}
{{- if hasKey $.Values.settings $pair._0 }}{{ $value = get $.Values.settings $pair._0 }}{{ end }}
{{ $pair._0 }}: {{ toString $value | quote }}
{{- end }}
{{- end }}

{{- /* Settings of a container: (list . "proxy"). */}}
{{- define "culvert.envFrom" -}}
{{- $ := index . 0 }}{{ $name := index . 1 -}}
{{- if ne $name "spool" }}
- configMapRef: { name: {{ include "culvert.fullname" $ }}-telemetry-settings }
{{- end }}
- configMapRef: { name: {{ include "culvert.fullname" $ }}-{{ $name }}-settings }
{{- with (get $.Values $name).extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The DSN, from the Secret or of the local ingest. */}}
{{- define "culvert.dsn" -}}
- name: SENTRY_DSN
  {{- if .Values.localIngest.enabled }}
  value: http://culvert@{{ include "culvert.address" (list . "ingest" 8969) }}/1
  {{- else }}
  valueFrom: { secretKeyRef: { name: {{ .Values.sentry.existingSecret }}, key: dsn } }
  {{- end }}
{{- end }}

{{- /* Annotations and labels of pods: (list . "web" file-of-settings labels). A change of a ConfigMap replaces the pods that read it. */}}
{{- define "culvert.podMetadata" -}}
{{- $ := index . 0 }}{{ $name := index . 1 }}{{ $values := get $.Values $name -}}
labels:
  {{- merge dict (index . 3) (include "culvert.labels" . | fromYaml) $values.podLabels | toYaml | nindent 2 }}
annotations:
  checksum/settings: {{ printf "%s%s" (ternary "" (include "culvert.settings" (list $ "settings/telemetry.env")) (eq $name "spool")) (include "culvert.settings" (list $ (index . 2))) | sha256sum }}
  {{- with $values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /* What all pods have: (list . "web" uid). */}}
{{- define "culvert.podSpec" -}}
{{- $ := index . 0 }}{{ $name := index . 1 }}{{ $values := get $.Values $name -}}
serviceAccountName: {{ include "culvert.fullname" $ }}-{{ $name }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $values $key }}
{{ $key }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A container that meets the restricted Pod Security Standard. */}}
{{- define "culvert.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Pods of one release spread over nodes and zones; values replace that: (list . "web" skew). */}}
{{- define "culvert.spread" -}}
{{- $ := index . 0 }}{{ $name := index . 1 }}{{ $skew := index . 2 -}}
{{- with (get $.Values $name).topologySpreadConstraints }}
{{- toYaml . }}
{{- else }}
{{- $selector := dict "matchLabels" (include "culvert.selectorLabels" (list $ $name) | fromYaml) -}}
{{- $common := dict "nodeTaintsPolicy" "Honor" "labelSelector" $selector -}}
{{- /* A StatefulSet's pods lack the label that tells a Deployment's revisions apart. */}}
{{- if ne $name "spool" }}{{ $_ := set $common "matchLabelKeys" (list "pod-template-hash") }}{{ end -}}
- {{ merge (dict "topologyKey" "kubernetes.io/hostname" "maxSkew" $skew "whenUnsatisfiable" "DoNotSchedule") $common | toJson }}
- {{ merge (dict "topologyKey" "topology.kubernetes.io/zone" "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway") $common | toJson }}
{{- end }}
{{- end }}

{{- /* Pods of this release: (list . "web"). */}}
{{- define "culvert.peer" -}}
podSelector: { matchLabels: {{ include "culvert.selectorLabels" . | fromYaml | toJson }} }
{{- end }}

{{- /* Pods of web, and of the release before this one. */}}
{{- define "culvert.webPeer" -}}
podSelector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }} }, matchExpressions: [{ key: app.kubernetes.io/name, operator: In, values: [web, web-previous] }] }
{{- end }}

{{- define "culvert.egressToIngest" -}}
- to: [{ {{ include "culvert.peer" (list . "ingest") }} }]
  ports: [{ protocol: TCP, port: 8969 }]
{{- with .Values.networkPolicy.ingest }}
{{ toYaml . }}
{{- else }}
# The internet, without the addresses of clusters, nodes and the cloud's metadata service.
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ["::1/128", fc00::/7, fe80::/10]
  ports: [{ protocol: TCP, port: 443 }]
{{- end }}
{{- end }}

{{- define "culvert.egressToDns" -}}
- to: {{ toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end }}
