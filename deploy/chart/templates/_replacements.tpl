{{- /* Copies a value from one object to others: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/ */}}
{{- define "culvert.replacements" }}
{{- $objects := .state.objects }}
{{- range .replacements }}
{{- $source := .source }}
{{- $found := dict }}
{{- range $objects }}
{{- if and (eq .kind $source.kind) (eq .metadata.name $source.name) }}
{{- include "culvert.get" (dict "node" . "path" (include "culvert.path" $source.fieldPath | fromJsonArray) "found" $found) }}
{{- end }}
{{- end }}
{{- $value := $found.value }}
{{- with $source.options }}
{{- /* The tag of an image, after the last colon, because a registry may have a port. */}}
{{- $value = last (splitList .delimiter $value) }}
{{- end }}
{{- range $target := .targets }}
{{- range $object := $objects }}
{{- if and (eq .kind $target.select.kind) (eq .metadata.name $target.select.name) }}
{{- range $target.fieldPaths }}
{{- include "culvert.set" (dict "node" $object "path" (include "culvert.path" . | fromJsonArray) "value" $value "options" ($target.options | default dict)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The steps of a path, as JSON: names, numbers, `*`, or `name=value` for the matching items of a list. */}}
{{- define "culvert.path" }}
{{- $steps := list }}
{{- range regexFindAll "\\[[^]]+\\]|[^.]+" . -1 }}
{{- $steps = append $steps (trimAll "[]" .) }}
{{- end }}
{{- toJson $steps }}
{{- end }}

{{- /* Finds the value at a path and stores it in `found`. */}}
{{- define "culvert.get" }}
{{- $step := first .path }}
{{- $rest := rest .path }}
{{- $found := .found }}
{{- if not .path }}
{{- $_ := set $found "value" .node }}
{{- else if kindIs "map" .node }}
{{- include "culvert.get" (dict "node" (get .node $step) "path" $rest "found" $found) }}
{{- else }}
{{- range .node }}
{{- if eq (printf "name=%s" .name) $step }}
{{- include "culvert.get" (dict "node" . "path" $rest "found" $found) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Sets the value at a path, or its part by options.delimiter and options.index. */}}
{{- define "culvert.set" }}
{{- $step := first .path }}
{{- $rest := rest .path }}
{{- $value := .value }}
{{- $options := .options }}
{{- if kindIs "slice" .node }}
{{- range .node }}
{{- if or (eq $step "*") (eq (printf "name=%s" .name) $step) }}
{{- include "culvert.set" (dict "node" . "path" $rest "value" $value "options" $options) }}
{{- end }}
{{- end }}
{{- else if $rest }}
{{- $child := get .node $step }}
{{- if and (kindIs "slice" $child) (eq (len $rest) 1) }}
{{- $list := list }}
{{- range $i, $item := $child }}
{{- $list = append $list (ternary $value $item (eq (toString $i) (first $rest))) }}
{{- end }}
{{- $_ := set .node $step $list }}
{{- else }}
{{- include "culvert.set" (dict "node" $child "path" $rest "value" $value "options" $options) }}
{{- end }}
{{- else if or (hasKey .node $step) $options.create }}
{{- $new := $value }}
{{- if $options.delimiter }}
{{- $parts := list }}
{{- range $i, $part := splitList $options.delimiter (get .node $step) }}
{{- $parts = append $parts (ternary $value $part (eq $i (int $options.index))) }}
{{- end }}
{{- $new = join $options.delimiter $parts }}
{{- end }}
{{- $_ := set .node $step $new }}
{{- end }}
{{- end }}
