{{- /*
Appends a hash of its data to each generated ConfigMap's name and to all references, so that a changed setting replaces the pods:
https://github.com/kubernetes-sigs/kustomize/blob/kustomize/v5.5.0/api/hasher/hasher.go
*/}}
{{- define "culvert.names" }}
{{- $names := dict }}
{{- $generated := .generated }}
{{- range .objects }}
{{- if and (eq .kind "ConfigMap") (has .metadata.name $generated) }}
{{- $hash := dict "kind" "ConfigMap" "name" "" "data" .data | toJson | sha256sum | trunc 10 }}
{{- $hash = $hash | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t" }}
{{- $_ := set $names .metadata.name (printf "%s-%s" .metadata.name $hash) }}
{{- $_ := set .metadata "name" (get $names .metadata.name) }}
{{- end }}
{{- end }}
{{- range .objects }}
{{- if (.spec | default dict).template }}
{{- range .spec.template.spec.containers }}
{{- range .envFrom }}
{{- $_ := set .configMapRef "name" (get $names .configMapRef.name | default .configMapRef.name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
