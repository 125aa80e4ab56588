{{- define "headwater.setupEnvironment" -}}
{{ include "headwater.environment" (list . "setup") }}
- { name: HEADWATER_STORE_SIZE, value: {{ .Values.nats.storeSize | quote }} }
- { name: HEADWATER_OWNER_ID, value: {{ .Values.owner.id | quote }} }
- { name: HEADWATER_OWNER_USERNAME, value: {{ .Values.owner.username | quote }} }
- { name: HEADWATER_OWNER_EMAIL, value: {{ .Values.owner.email | quote }} }
{{- end -}}
