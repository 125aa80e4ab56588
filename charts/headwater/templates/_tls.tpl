{{/* The Secret with the authorities of NATS; empty: none, or the public ones. */}}
{{- define "headwater.natsCaSecret" -}}
{{- $tls := .Values.nats.tls -}}
{{- $tls.caSecret | default (ternary $tls.certificateSecret "" .Values.nats.enabled) -}}
{{- end -}}

{{/* The value of HEADWATER_NATS_CA; empty: plaintext. */}}
{{- define "headwater.natsCa" -}}
{{- if include "headwater.natsCaSecret" . }}/tls/nats/ca.crt{{ else if .Values.nats.tls.publicCa }}public{{ end -}}
{{- end -}}

{{/* The value of HEADWATER_DATABASE_CA; empty: plaintext. */}}
{{- define "headwater.postgresCa" -}}
{{- if .Values.postgres.tls.caSecret }}/tls/postgres/ca.crt{{ else if .Values.postgres.tls.publicCa }}public{{ end -}}
{{- end -}}

{{/* The servers that may be reached without TLS, by comma. Fails for a server that is neither encrypted nor allowed to be plaintext. */}}
{{- define "headwater.plaintext" -}}
{{- /* A missing address is reported first. */ -}}
{{- $_ := list (include "headwater.natsUrl" .) (include "headwater.postgresHost" .) (include "headwater.postgresSecret" .) -}}
{{- if and .Values.postgres.enabled (include "headwater.postgresCa" .) }}{{ fail "postgres.tls is for a Postgres of your own (postgres.enabled=false): the release's own Postgres has no TLS" }}{{ end -}}
{{- if .Values.nats.enabled -}}
{{- with .Values.nats.tls }}{{ if and (or .clientSecret .caSecret .publicCa) (not .certificateSecret) }}{{ fail "nats.tls.certificateSecret is needed for the other settings of nats.tls: without it the release's NATS has no TLS" }}{{ end }}{{ end -}}
{{- end -}}
{{- $encrypted := dict "nats" (or (include "headwater.natsCa" .) (and (not .Values.nats.enabled) (hasPrefix "tls://" .Values.nats.url))) "postgres" (include "headwater.postgresCa" .) -}}
{{- range $name, $tls := dict "nats" .Values.nats.tls "postgres" .Values.postgres.tls -}}
{{- if and $tls.clientSecret (not (get $encrypted $name)) }}{{ fail (printf "%s.tls.clientSecret needs %s.tls.caSecret or %s.tls.publicCa: a client certificate is sent only to a server that is verified" $name $name $name) }}{{ end -}}
{{- end -}}
{{- $allowed := list -}}
{{- range $name, $values := dict "nats" .Values.nats "postgres" .Values.postgres -}}
{{- if not (get $encrypted $name) -}}
{{- if or (eq $values.plaintext "always") (and (eq $values.plaintext "own") $values.enabled) }}{{ $allowed = append $allowed $name }}
{{- else }}{{ fail (printf "%s.tls is needed: the certificate of the server or of its authority; or set %s.plaintext to %s to allow connections without TLS" $name $name (ternary "own" "always" $values.enabled)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- join "," $allowed -}}
{{- end -}}

{{- define "headwater.usesPostgres" -}}
{{- if has . (list "api" "operator" "delivery" "setup" "backup") }}true{{ end -}}
{{- end -}}

{{/* Jobs send no traces; call with (list $ "role"). */}}
{{- define "headwater.sendsTraces" -}}
{{- if and (index . 0).Values.traces.endpoint (not (has (index . 1) (list "setup" "backup"))) }}true{{ end -}}
{{- end -}}

{{/* The Secret with the certificate that a role serves; call with (list $ "role"). */}}
{{- define "headwater.servedSecret" -}}
{{- if has (index . 1) (list "api" "ingress") }}{{ (get (index . 0).Values (index . 1)).tlsSecret }}{{ end -}}
{{- end -}}

{{/* The Secret with the certificate for STARTTLS of received emails; call with (list $ "role"). */}}
{{- define "headwater.emailSecret" -}}
{{- if and (eq (index . 1) "ingress") (index . 0).Values.email.domain }}{{ (index . 0).Values.email.certificateSecret }}{{ end -}}
{{- end -}}

{{/* Private authorities that a role trusts besides the public ones; call with (list $ "role"). */}}
{{- define "headwater.privateCas" -}}
{{- $values := (index . 0).Values -}}
{{- $cas := list -}}
{{- if eq (index . 1) "delivery" -}}
{{- $cas = list
  (dict "setting" "HEADWATER_WEBHOOK_CA" "folder" "webhooks" "secret" $values.webhooks.caSecret)
  (dict "setting" "HEADWATER_SMTP_CA" "folder" "mail" "secret" (ternary $values.mail.caSecret "" (not (empty $values.mail.smtpUrlSecret))))
  (dict "setting" "HEADWATER_S3_CA" "folder" "objects" "secret" (ternary $values.objects.caSecret "" (not (empty $values.objects.s3UrlSecret)))) -}}
{{- end -}}
{{- if include "headwater.sendsTraces" . -}}
{{- $cas = append $cas (dict "setting" "OTEL_EXPORTER_OTLP_CERTIFICATE" "folder" "traces" "secret" $values.traces.caSecret) -}}
{{- end -}}
{{- range $cas }}{{ if .secret }}
- {{ toJson . }}
{{- end }}{{ end -}}
{{- end -}}

{{/* Settings of TLS; call with (list $ "role"). */}}
{{- define "headwater.tlsEnvironment" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $entries := list -}}
{{- with include "headwater.plaintext" $root }}{{ $entries = append $entries (dict "name" "HEADWATER_PLAINTEXT" "value" .) }}{{ end -}}
{{- with include "headwater.natsCa" $root }}{{ $entries = append $entries (dict "name" "HEADWATER_NATS_CA" "value" .) }}{{ end -}}
{{- if $root.Values.nats.tls.clientSecret }}
{{- $entries = concat $entries (list (dict "name" "HEADWATER_NATS_CERTIFICATE" "value" "/tls/nats/tls.crt") (dict "name" "HEADWATER_NATS_KEY" "value" "/tls/nats/tls.key")) }}
{{- end -}}
{{- if include "headwater.usesPostgres" $role -}}
{{- with include "headwater.postgresCa" $root }}{{ $entries = append $entries (dict "name" "HEADWATER_DATABASE_CA" "value" .) }}{{ end -}}
{{- if $root.Values.postgres.tls.clientSecret }}
{{- $entries = concat $entries (list (dict "name" "HEADWATER_DATABASE_CERTIFICATE" "value" "/tls/postgres/tls.crt") (dict "name" "HEADWATER_DATABASE_KEY" "value" "/tls/postgres/tls.key")) }}
{{- end -}}
{{- end -}}
{{- range include "headwater.privateCas" . | fromYamlArray }}{{ $entries = append $entries (dict "name" .setting "value" (printf "/tls/%s/ca.crt" .folder)) }}{{ end -}}
{{- if include "headwater.servedSecret" . }}
{{- $entries = concat $entries (list (dict "name" "HEADWATER_SERVER_CERTIFICATE" "value" "/tls/server/tls.crt") (dict "name" "HEADWATER_SERVER_KEY" "value" "/tls/server/tls.key")) }}
{{- end -}}
{{- if include "headwater.emailSecret" . }}
{{- $entries = concat $entries (list (dict "name" "HEADWATER_EMAIL_CERTIFICATE" "value" "/tls/email/tls.crt") (dict "name" "HEADWATER_EMAIL_KEY" "value" "/tls/email/tls.key")) }}
{{- end -}}
{{- range $entries }}
- { name: {{ .name }}, value: {{ .value | quote }} }
{{- end }}
{{- end -}}

{{/* Sources of the projected volume `tls`, mounted at /tls; empty: no volume. Call with (list $ "role"). */}}
{{- define "headwater.tlsSources" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- with include "headwater.natsCaSecret" $root }}
{{ include "headwater.tlsSource" (list . "nats" "ca.crt") }}
{{- end }}
{{- with $root.Values.nats.tls.clientSecret }}
{{ include "headwater.tlsSource" (list . "nats" "tls.crt" "tls.key") }}
{{- end }}
{{- if include "headwater.usesPostgres" $role }}
{{- with $root.Values.postgres.tls.caSecret }}
{{ include "headwater.tlsSource" (list . "postgres" "ca.crt") }}
{{- end }}
{{- with $root.Values.postgres.tls.clientSecret }}
{{ include "headwater.tlsSource" (list . "postgres" "tls.crt" "tls.key") }}
{{- end }}
{{- end }}
{{- range include "headwater.privateCas" . | fromYamlArray }}
{{ include "headwater.tlsSource" (list .secret .folder "ca.crt") }}
{{- end }}
{{- with include "headwater.servedSecret" . }}
{{ include "headwater.tlsSource" (list . "server" "tls.crt" "tls.key") }}
{{- end }}
{{- with include "headwater.emailSecret" . }}
{{ include "headwater.tlsSource" (list . "email" "tls.crt" "tls.key") }}
{{- end }}
{{- end -}}

{{/* Keys of a Secret as files in a folder of /tls; call with (list "secret" "folder" "key" …). */}}
{{- define "headwater.tlsSource" -}}
{{- $folder := index . 1 -}}
{{- $items := list -}}
{{- range slice . 2 }}{{ $items = append $items (dict "key" . "path" (printf "%s/%s" $folder .)) }}{{ end -}}
- secret: {{ dict "name" (first .) "items" $items | toJson }}
{{- end -}}
