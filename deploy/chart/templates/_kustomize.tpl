{{- /*
Reads the folders of deploy/kubernetes as kustomize does, with the features that they use: resources, generated ConfigMaps, components,
strategic merge patches, images, labels, replacements. `state` accumulates objects, names of generated ConfigMaps, and images.
*/}}

{{- define "culvert.folder" }}
{{- $state := .state }}
{{- $folder := .folder }}
{{- $files := $state.chart.Files }}
{{- $kustomization := $files.Get (printf "%s/kustomization.yaml" $folder) | fromYaml }}
{{- if $kustomization.components }}
{{- range $kustomization.components }}
{{- include "culvert.folder" (dict "state" $state "folder" (clean (printf "%s/%s" $folder .))) }}
{{- end }}
{{- end }}
{{- range $kustomization.resources }}
{{- $path := clean (printf "%s/%s" $folder .) }}
{{- if hasSuffix ".yaml" $path }}
{{- range regexSplit "(?m)^---$" ($files.Get $path) -1 }}
{{- $object := fromYaml . }}
{{- if eq $object.kind "ReplacementTransformer" }}
{{- include "culvert.replacements" (dict "state" $state "replacements" $object.replacements) }}
{{- else }}
{{- $_ := set $state "objects" (append $state.objects $object) }}
{{- end }}
{{- end }}
{{- else }}
{{- include "culvert.folder" (dict "state" $state "folder" $path) }}
{{- end }}
{{- end }}
{{- range $kustomization.configMapGenerator }}
{{- include "culvert.configMap" (dict "state" $state "folder" $folder "generator" .) }}
{{- end }}
{{- range $kustomization.patches }}
{{- $target := .target | default dict }}
{{- range regexSplit "(?m)^---$" ($files.Get (printf "%s/%s" $folder .path)) -1 }}
{{- $patch := fromYaml . }}
{{- range $state.objects }}
{{- if and (eq .kind ($target.kind | default $patch.kind)) (eq .metadata.name ($target.name | default $patch.metadata.name)) }}
{{- include "culvert.merge" (dict "into" . "patch" $patch) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $kustomization.images }}
{{- $_ := set $state.images .name (printf "%s:%s" .name .newTag) }}
{{- end }}
{{- range $kustomization.labels }}
{{- $pairs := .pairs }}
{{- range $state.objects }}
{{- $_ := set .metadata "labels" (merge dict $pairs (.metadata.labels | default dict)) }}
{{- if (.spec | default dict).template }}
{{- $_ := set .spec.template.metadata "labels" (merge dict $pairs .spec.template.metadata.labels) }}
{{- end }}
{{- end }}
{{- end }}
{{- include "culvert.replacements" (dict "state" $state "replacements" $kustomization.replacements) }}
{{- end }}

{{- /* Creates a ConfigMap from env files, files and literals, or merges them into an existing one. */}}
{{- define "culvert.configMap" }}
{{- $data := dict }}
{{- $files := .state.chart.Files }}
{{- $folder := .folder }}
{{- range .generator.envs }}
{{- range splitList "\n" ($files.Get (printf "%s/%s" $folder .)) }}
{{- if and . (not (hasPrefix "#" .)) }}
{{- $pair := splitn "=" 2 . }}
{{- $_ := set $data $pair._0 $pair._1 }}
{{- end }}
{{- end }}
{{- end }}
{{- range .generator.files }}
{{- $pair := splitn "=" 2 . }}
{{- $_ := set $data $pair._0 ($files.Get (printf "%s/%s" $folder $pair._1)) }}
{{- end }}
{{- range .generator.literals }}
{{- $pair := splitn "=" 2 . }}
{{- $_ := set $data $pair._0 $pair._1 }}
{{- end }}
{{- $name := .generator.name }}
{{- if eq (.generator.behavior | default "create") "merge" }}
{{- range .state.objects }}
{{- if and (eq .kind "ConfigMap") (eq .metadata.name $name) }}
{{- $old := .data }}
{{- range $key, $value := $data }}
{{- $_ := set $old $key $value }}
{{- end }}
{{- end }}
{{- end }}
{{- else }}
{{- $metadata := dict "name" $name }}
{{- with (.generator.options | default dict).labels }}
{{- $_ := set $metadata "labels" . }}
{{- end }}
{{- $object := dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" $metadata "data" $data }}
{{- $_ := set .state "objects" (append .state.objects $object) }}
{{- $_ := set .state "generated" (append .state.generated $name) }}
{{- end }}
{{- end }}

{{- /* Sets values.settings in every ConfigMap that has a key of that name. */}}
{{- define "culvert.settings" }}
{{- $objects := .objects }}
{{- range $name, $value := .chart.Values.settings }}
{{- $found := dict }}
{{- range $objects }}
{{- if and (eq .kind "ConfigMap") (hasKey .data $name) }}
{{- $_ := set .data $name (toString $value) }}
{{- $_ := set $found "yes" true }}
{{- end }}
{{- end }}
{{- if not $found }}
{{- fail (printf "settings.%s: there is no such setting: docs/settings.md lists all" $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A strategic merge patch: https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md */}}
{{- define "culvert.merge" }}
{{- $into := .into }}
{{- range $key, $value := .patch }}
{{- $old := get $into $key }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $into $key }}
{{- else if and (kindIs "map" $value) (kindIs "map" $old) }}
{{- include "culvert.merge" (dict "into" $old "patch" $value) }}
{{- else if and (kindIs "slice" $value) (kindIs "slice" $old) (kindIs "map" (first $value)) }}
{{- /* Items of the patch come first, as in kustomize, but existing ports keep their place. */}}
{{- $named := list }}
{{- $others := $old }}
{{- range $item := $value }}
{{- $id := include "culvert.id" (dict "list" $key "item" $item) }}
{{- $found := $item }}
{{- range $old }}
{{- if eq $id (include "culvert.id" (dict "list" $key "item" .)) }}
{{- include "culvert.merge" (dict "into" . "patch" $item) }}
{{- $found = . }}
{{- end }}
{{- end }}
{{- if not (and (eq $key "ports") (has $found $old)) }}
{{- $named = append $named $found }}
{{- $others = without $others $found }}
{{- end }}
{{- end }}
{{- $_ := set $into $key (concat $named $others) }}
{{- else }}
{{- $_ := set $into $key $value }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The key that identifies an item of a list. */}}
{{- define "culvert.id" }}
{{- if eq .list "ports" }}
{{- printf "%v %v" (.item.containerPort | default .item.port) .item.protocol }}
{{- else if eq .list "volumeMounts" }}
{{- .item.mountPath }}
{{- else if eq .list "topologySpreadConstraints" }}
{{- .item.topologyKey }}
{{- else }}
{{- .item.name }}
{{- end }}
{{- end }}

{{- /* Every container's image: from values.images, else from the folders. */}}
{{- define "culvert.images" }}
{{- $images := merge dict .chart.Values.images .images }}
{{- range .objects }}
{{- if (.spec | default dict).template }}
{{- range concat (.spec.template.spec.initContainers | default list) .spec.template.spec.containers }}
{{- $_ := set . "image" (get $images .image | default .image) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "culvert.replicas" }}
{{- $replicas := .chart.Values.replicas }}
{{- range .objects }}
{{- if and (eq .kind "Deployment") (hasKey $replicas .metadata.name) }}
{{- $_ := set .spec "replicas" (get $replicas .metadata.name) }}
{{- end }}
{{- end }}
{{- end }}
