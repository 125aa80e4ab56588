{{- define "headwater.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Labels of everything; call with (list $ "component"). */}}
{{- define "headwater.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{ include "headwater.selector" . }}
{{- end -}}

{{/* What selects the pods of a component, for ever. */}}
{{- define "headwater.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: headwater
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/*
When Argo CD applies an object: it waits until each wave is healthy. What others refer to (accounts, rights, policies, configuration,
definitions) has no annotation, and with it wave 0. Call with the name of a step.
*/}}
{{- define "headwater.wave" -}}
argocd.argoproj.io/sync-wave: {{ get (dict "secrets" "1" "servers" "2" "setup" "3" "roles" "4") . | quote }}
{{- end -}}

{{/*
Annotations of an object that Helm creates before it changes the others, on an upgrade only. Call with (list $ "weight"), and with
"hook-succeeded" for an object that is deleted once all hooks have succeeded.
*/}}
{{- define "headwater.upgradeHook" -}}
{{- if not (index . 0).Release.IsInstall -}}
annotations:
  helm.sh/hook: pre-upgrade
  helm.sh/hook-weight: {{ index . 1 | quote }}
  helm.sh/hook-delete-policy: {{ join "," (prepend (slice . 2) "before-hook-creation") }}
{{- end -}}
{{- end -}}

{{/* Annotations of a Job: a hook on an upgrade by Helm, else an object of its wave. Call with (list $ "step" "weight"). */}}
{{- define "headwater.jobAnnotations" -}}
{{- if (index . 0).Release.IsInstall -}}
annotations:
  {{- include "headwater.wave" (index . 1) | nindent 2 }}
{{- else -}}
{{ include "headwater.upgradeHook" (list (index . 0) (index . 2)) }}
{{- end -}}
{{- end -}}

{{- define "headwater.natsUrl" -}}
{{- if .Values.nats.enabled }}nats://headwater-nats.{{ .Release.Namespace }}.svc:4222{{ else }}{{ required "nats.url is needed when nats.enabled is false" .Values.nats.url }}{{ end -}}
{{- end -}}

{{- define "headwater.natsPeers" -}}
{{- if .Values.nats.enabled -}}
- podSelector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }}, app.kubernetes.io/component: nats } }
  namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ .Release.Namespace }} } }
{{- else -}}
{{- include "headwater.peers" (list "nats.peers is needed when nats.enabled is false" .Values.nats.peers) }}
{{- end -}}
{{- end -}}

{{/* Bytes of a size such as 8Gi; empty for one with another unit. */}}
{{- define "headwater.bytes" -}}
{{- $unit := regexReplaceAll "^[0-9.]+" . "" -}}
{{- $factors := dict "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "M" 1000000 "G" 1000000000 "T" 1000000000000 -}}
{{- with get $factors $unit }}{{ mulf . ($ | trimSuffix $unit | float64) | printf "%.0f" }}{{ end -}}
{{- end -}}

{{/* A rule without peers would allow all addresses. Call with (list "message" peers). */}}
{{- define "headwater.peers" -}}
{{- if not (index . 1) }}{{ fail (index . 0) }}{{ end -}}
{{- index . 1 | toYaml -}}
{{- end -}}

{{- define "headwater.natsPorts" -}}
{{- if .Values.nats.enabled }}[4222]{{ else }}{{ .Values.nats.ports | toJson }}{{ end -}}
{{- end -}}

{{- define "headwater.streamReplicas" -}}
{{- if .Values.nats.enabled }}{{ .Values.nats.replicas }}{{ else }}{{ .Values.nats.streamReplicas }}{{ end -}}
{{- end -}}

{{- define "headwater.postgresHost" -}}
{{- if .Values.postgres.enabled }}headwater-postgres.{{ .Release.Namespace }}.svc{{ else }}{{ required "postgres.host is needed when postgres.enabled is false" .Values.postgres.host }}{{ end -}}
{{- end -}}

{{- define "headwater.postgresPort" -}}
{{- if .Values.postgres.enabled }}5432{{ else }}{{ .Values.postgres.port }}{{ end -}}
{{- end -}}

{{- define "headwater.postgresPeers" -}}
{{- if .Values.postgres.enabled -}}
- podSelector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }}, app.kubernetes.io/component: postgres } }
{{- else -}}
{{- include "headwater.peers" (list "postgres.peers is needed when postgres.enabled is false" .Values.postgres.peers) }}
{{- end -}}
{{- end -}}

{{/* The Secret with the administrator of Postgres, which only the Job that generates Secrets reads. */}}
{{- define "headwater.postgresSecret" -}}
{{- if .Values.postgres.enabled }}headwater-postgres{{ else if .Values.secrets.generate }}{{ required "postgres.existingSecret is needed when postgres.enabled is false" .Values.postgres.existingSecret }}{{ end -}}
{{- end -}}

{{/* The URL of a host of the Ingress; empty: there is none. Call with (list $ "host"). */}}
{{- define "headwater.publishedUrl" -}}
{{- $ingress := (index . 0).Values.kubernetesIngress -}}
{{- if and $ingress.enabled (index . 1) }}{{ ternary "https" "http" (ne $ingress.tlsSecret "") }}://{{ index . 1 }}{{ end -}}
{{- end -}}

{{- define "headwater.publicUrl" -}}
{{- .Values.settings.publicUrl | default (include "headwater.publishedUrl" (list . .Values.kubernetesIngress.apiHost)) | default (include "headwater.serviceUrl" (list . "api")) -}}
{{- end -}}

{{- define "headwater.ingressUrl" -}}
{{- .Values.settings.ingressUrl | default (include "headwater.publishedUrl" (list . .Values.kubernetesIngress.endpointsHost)) | default (include "headwater.serviceUrl" (list . "ingress")) -}}
{{- end -}}

{{- define "headwater.serviceUrl" -}}
{{- $values := get (index . 0).Values (index . 1) -}}
{{- $port := int $values.service.port -}}
{{- $isDefault := eq $port (ternary 443 80 (not (empty $values.tlsSecret))) -}}
{{- printf "%s://headwater-%s.%s.svc%s" (ternary "https" "http" (not (empty $values.tlsSecret))) (index . 1) (index . 0).Release.Namespace (ternary "" (printf ":%d" $port) $isDefault) -}}
{{- end -}}
