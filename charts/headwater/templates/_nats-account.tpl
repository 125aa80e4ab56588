{{/* Settings of an account of NATS that is not ours (nats.credentials); call with $. */}}
{{- define "headwater.natsAccountEnvironment" -}}
{{- $nats := .Values.nats -}}
{{- if $nats.credentials }}
{{- if $nats.enabled }}{{ fail "nats.credentials is for NATS of your own (nats.enabled=false): Headwater signs the users of the release's NATS" }}{{ end -}}
{{- if not (has $nats.credentials (list "perRole" "shared")) }}{{ fail (printf "nats.credentials %s is invalid: it must be perRole, shared or empty" $nats.credentials) }}{{ end }}
HEADWATER_NATS_ACCOUNT: {{ $nats.credentials }}
{{- with $nats.domain }}
HEADWATER_NATS_DOMAIN: {{ . | quote }}
{{- end }}
{{- with $nats.prefix }}
HEADWATER_NATS_PREFIX: {{ . | quote }}
{{- end }}
{{- else if or $nats.domain $nats.prefix $nats.credentialsSecret -}}
{{- fail "nats.domain, nats.prefix and nats.credentialsSecret are for an account of yours: set nats.credentials to perRole or shared" }}
{{- end -}}
{{- end -}}

{{/* Sources of the projected volume `nats`, mounted at /nats; empty: no volume. Setup has the operator's user, and to restore that of
backups; the operator also gives runner pods theirs. Call with (list $ "role"). */}}
{{- define "headwater.natsSources" -}}
{{- $nats := (index . 0).Values.nats -}}
{{- $role := index . 1 -}}
{{- $users := list $role -}}
{{- if has $role (list "operator" "setup") }}{{ $users = list "operator" "runner" }}{{ end -}}
{{- if and (eq $role "setup") (include "headwater.restores" (index . 0)) }}{{ $users = append $users "backup" }}{{ end -}}
{{- if $nats.credentials }}
{{- $secret := required "nats.credentialsSecret is needed with nats.credentials: the Secret with the key nats.creds" $nats.credentialsSecret -}}
{{- if eq $nats.credentials "shared" }}
- secret: { name: {{ $secret }}, items: [{ key: nats.creds, path: nats.creds }] }
{{- else }}
{{- range $users }}
- secret: { name: {{ $secret }}-{{ . }}, items: [{ key: nats.creds, path: {{ . }}.creds }] }
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "headwater.natsCredentials" -}}
{{- get (dict "perRole" "/nats" "shared" "/nats/nats.creds") .Values.nats.credentials | default "/keys/nats.creds" -}}
{{- end -}}
