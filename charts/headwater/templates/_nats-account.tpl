{{/* Settings of an account of NATS that is not ours (nats.credentials); call with $. */}}
{{- define "headwater.natsAccountEnvironment" -}}
{{- $nats := .Values.nats -}}
{{- if $nats.prefix }}{{ fail "nats.prefix is no longer a value: give Headwater an account of NATS of its own; docs/kubernetes.md, \"From a shared account\", says how" }}{{ end -}}
{{- if $nats.credentials }}
{{- if $nats.enabled }}{{ fail "nats.credentials is for NATS of your own (nats.enabled=false): Headwater signs the users of the release's NATS" }}{{ end -}}
{{- if ne $nats.credentials "shared" }}{{ fail (printf "nats.credentials %s is invalid: it must be shared or empty; in an account of yours all roles have one user" $nats.credentials) }}{{ end }}
HEADWATER_NATS_ACCOUNT: {{ $nats.credentials }}
{{- with $nats.domain }}
HEADWATER_NATS_DOMAIN: {{ . | quote }}
{{- end }}
{{- else if or $nats.domain $nats.credentialsSecret -}}
{{- fail "nats.domain and nats.credentialsSecret are for an account of yours: set nats.credentials to shared" }}
{{- end -}}
{{- end -}}

{{/* Sources of the projected volume `nats`, mounted at /nats; empty: no volume. */}}
{{- define "headwater.natsSources" -}}
{{- $nats := .Values.nats -}}
{{- if $nats.credentials }}
{{- $secret := required "nats.credentialsSecret is needed with nats.credentials: the Secret with the key nats.creds" $nats.credentialsSecret -}}
- secret: { name: {{ $secret }}, items: [{ key: nats.creds, path: nats.creds }] }
{{- end -}}
{{- end -}}

{{- define "headwater.natsCredentials" -}}
{{- ternary "/nats/nats.creds" "/keys/nats.creds" (eq .Values.nats.credentials "shared") -}}
{{- end -}}
