{{/* Pods of the profile `restricted`; call with the user's number. */}}
{{- define "headwater.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "headwater.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
readOnlyRootFilesystem: true
{{- end -}}

{{/* Constraints of a pod; call with (dict "root" $ "component" … "rollout" bool): `rollout` counts the pods of each rollout alone. */}}
{{- define "headwater.spread" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  {{- if and (eq $.root.Values.spread "required") (eq . "kubernetes.io/hostname") }}
  whenUnsatisfiable: DoNotSchedule
  # Lost and cordoned nodes do not count: pods start on the others.
  nodeTaintsPolicy: Honor
  {{- else }}
  whenUnsatisfiable: ScheduleAnyway
  {{- end }}
  labelSelector:
    matchLabels: {{- include "headwater.selector" (list $.root $.component) | nindent 6 }}
  {{- if $.rollout }}
  matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end -}}

{{/* Affinity of NATS pods: none shares a node with another one. A topology spread alone would put three of them on two nodes as 2 + 1. */}}
{{- define "headwater.natsAffinity" -}}
{{- $apart := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (include "headwater.selector" (list . "nats") | fromYaml)) -}}
{{- $affinity := deepCopy (.Values.nats.pod.affinity | default dict) -}}
{{- $antiAffinity := $affinity.podAntiAffinity | default dict -}}
{{- $rules := append ($antiAffinity.requiredDuringSchedulingIgnoredDuringExecution | default list) $apart -}}
{{- $_ := set $antiAffinity "requiredDuringSchedulingIgnoredDuringExecution" $rules -}}
{{- toYaml (set $affinity "podAntiAffinity" $antiAffinity) -}}
{{- end -}}

{{/* Further fields of a pod, from the values; call with (list $ .Values.….pod). */}}
{{- define "headwater.podFields" -}}
{{- $root := index . 0 -}}
{{- $class := ternary (dict "priorityClassName" "headwater-system") dict $root.Values.priorityClasses.enabled -}}
{{- with merge (deepCopy (index . 1)) $class }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Settings that all processes have; call with (list $ "role"). */}}
{{- define "headwater.environment" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
- { name: HEADWATER_ROLES, value: {{ $role }} }
- { name: HEADWATER_RESOURCES, value: kubernetes }
- { name: HEADWATER_DATA, value: /data }
- { name: HEADWATER_KEYS, value: /keys }
- { name: HEADWATER_HEALTH_LISTEN, value: "0.0.0.0:8081" }
- { name: HEADWATER_LOG_LEVEL, value: {{ $root.Values.settings.logLevel }} }
- { name: HEADWATER_STREAM_REPLICAS, value: {{ include "headwater.streamReplicas" $root | quote }} }
- { name: NATS_URL, value: {{ include "headwater.natsUrl" $root | quote }} }
- { name: HEADWATER_NATS_CREDENTIALS, value: {{ include "headwater.natsCredentials" $root }} }
{{- range $name, $value := include "headwater.natsAccountEnvironment" $root | fromYaml }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- with include "headwater.tlsEnvironment" . }}
{{- . }}
{{- end }}
- { name: HEADWATER_PUBLIC_URL, value: {{ include "headwater.publicUrl" $root | quote }} }
- { name: HEADWATER_INGRESS_URL, value: {{ include "headwater.ingressUrl" $root | quote }} }
{{- with $root.Values.settings.egressAllow }}
- { name: HEADWATER_EGRESS_ALLOW, value: {{ join "," . | quote }} }
{{- end }}
{{- if has $role (list "api" "ingress") }}
{{- with $root.Values.settings.trustedProxies }}
- { name: HEADWATER_TRUSTED_PROXIES, value: {{ ternary (join "," .) (toString .) (kindIs "slice" .) | quote }} }
{{- end }}
{{- end }}
{{- if include "headwater.sendsTraces" . }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ $root.Values.traces.endpoint | quote }} }
{{- end }}
{{- if include "headwater.usesPostgres" $role }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: headwater-{{ $role }}, key: DATABASE_URL } }
{{- if ne $root.Values.postgres.pooler "none" }}
- { name: HEADWATER_DATABASE_POOLER, value: {{ $root.Values.postgres.pooler }} }
{{- end }}
{{- end }}
{{- if and (eq $role "delivery") $root.Values.mail.smtpUrlSecret }}
- name: HEADWATER_SMTP_URL
  valueFrom: { secretKeyRef: { name: {{ $root.Values.mail.smtpUrlSecret }}, key: smtpUrl } }
- { name: HEADWATER_MAIL_FROM, value: {{ required "mail.from is required with mail.smtpUrlSecret: the sender of all mails" $root.Values.mail.from | quote }} }
{{- end }}
{{- if and (has $role (list "ingress" "operator")) $root.Values.email.domain }}
- { name: HEADWATER_EMAIL_DOMAIN, value: {{ $root.Values.email.domain | quote }} }
{{- end }}
{{- if and (eq $role "delivery") $root.Values.objects.s3UrlSecret }}
- name: HEADWATER_S3_URL
  valueFrom: { secretKeyRef: { name: {{ $root.Values.objects.s3UrlSecret }}, key: s3Url } }
{{- end }}
{{- if and (eq $role "builder") (not (hasKey $root.Values.settings.environment "HEADWATER_SANDBOX_JAIL")) }}
- { name: HEADWATER_SANDBOX_JAIL, value: required }
{{- end }}
{{- range $name, $value := $root.Values.settings.environment }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{/* A role's Deployment; call with (dict "root" $ "role" … "values" .Values.… "token" bool "ports" list "grace" seconds). */}}
{{- define "headwater.deployment" -}}
{{- $root := .root -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: headwater-{{ .role }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "headwater.labels" (list $root .role) | nindent 4 }}
  annotations:
    {{- include "headwater.wave" "roles" | nindent 4 }}
spec:
  replicas: {{ .values.replicas }}
  revisionHistoryLimit: 3
  selector:
    matchLabels: {{- include "headwater.selector" (list $root .role) | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  template:
    metadata:
      labels: {{- include "headwater.labels" (list $root .role) | nindent 8 }}
      {{- with .annotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: headwater-{{ .role }}
      automountServiceAccountToken: {{ .token }}
      enableServiceLinks: false
      securityContext: {{- include "headwater.podSecurity" 65532 | nindent 8 }}
      terminationGracePeriodSeconds: {{ .grace }}
      topologySpreadConstraints: {{- include "headwater.spread" (dict "root" $root "component" .role "rollout" true) | nindent 8 }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      containers:
        - name: {{ .role }}
          image: {{ include "headwater.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          env:
            {{- include "headwater.environment" (list $root .role) | nindent 12 }}
            # What is left of the grace period after the pause below and before the end.
            - { name: HEADWATER_STOP_TIMEOUT, value: {{ sub .grace 8 | quote }} }
            {{- with .environment }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
            {{- end }}
            - { name: health, containerPort: 8081 }
          resources: {{- toYaml .values.resources | nindent 12 }}
          securityContext: {{- include "headwater.containerSecurity" $root | nindent 12 }}
          startupProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 1, failureThreshold: 120 }
          # A pod stays in the Service for 10 s without NATS. Requests then wait for a restarting server; without a ready pod, the
          # Service would refuse them.
          readinessProbe: { httpGet: { path: /readyz, port: health }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 5 }
          livenessProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
          {{- if .ports }}
          # Endpoints learn a moment late that this pod goes: it serves until they have.
          lifecycle: { preStop: { sleep: { seconds: 5 } } }
          {{- end }}
          terminationMessagePolicy: FallbackToLogsOnError
          volumeMounts:
            - { name: keys, mountPath: /keys, readOnly: true }
            - { name: data, mountPath: /data }
            - { name: tmp, mountPath: /tmp }
            {{- if include "headwater.tlsSources" (list $root .role) }}
            - { name: tls, mountPath: /tls, readOnly: true }
            {{- end }}
            {{- if $root.Values.nats.credentials }}
            - { name: nats, mountPath: /nats, readOnly: true }
            {{- end }}
            {{- with .mounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - { name: keys, secret: { secretName: headwater-{{ .role }}, defaultMode: 0440 } }
        - { name: data, emptyDir: { sizeLimit: {{ .dataSize | default "256Mi" }} } }
        - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
        {{- with include "headwater.tlsSources" (list $root .role) }}
        - name: tls
          projected:
            defaultMode: 0440
            sources:
              {{- . | nindent 14 }}
        {{- end }}
        {{- with include "headwater.natsSources" $root }}
        - name: nats
          projected:
            defaultMode: 0440
            sources:
              {{- . | nindent 14 }}
        {{- end }}
        {{- with .volumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with include "headwater.podFields" (list $root .values.pod) }}
      {{- . | nindent 6 }}
      {{- end }}
{{- end -}}

{{/* A Service; call with (dict "root" $ "role" … "values" .Values.…), and "pods" and "port" if they are not those named role and http. */}}
{{- define "headwater.service" -}}
{{- $root := .root -}}
apiVersion: v1
kind: Service
metadata:
  name: headwater-{{ .role }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "headwater.labels" (list $root .role) | nindent 4 }}
  annotations:
    {{- include "headwater.wave" "roles" | nindent 4 }}
    {{- with .values.service.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  type: {{ .values.service.type }}
  selector: {{- include "headwater.selector" (list $root (.pods | default .role)) | nindent 4 }}
  ports:
    {{- $protocol := ternary "https" "http" (not (empty .values.tlsSecret)) }}
    - { name: {{ $protocol }}, port: {{ .values.service.port }}, targetPort: {{ .port | default "http" }}, appProtocol: {{ $protocol }} }
{{- end -}}

{{/* The container of a Job, or the one that runs before it, which may have a claim for backups as well. */}}
{{- define "headwater.jobContainer" -}}
{{- $root := .root -}}
name: {{ .name | default .role }}
image: {{ include "headwater.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
{{- with .command }}
command: {{ toJson . }}
{{- end }}
{{- with .environment }}
env: {{- . | nindent 2 }}
{{- end }}
resources: {{- toYaml $root.Values.setup.resources | nindent 2 }}
securityContext: {{- include "headwater.containerSecurity" $root | nindent 2 }}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts:
  {{- if .keys }}
  - { name: keys, mountPath: /keys, readOnly: true }
  {{- end }}
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  {{- if .claim }}
  - { name: backups, mountPath: /backups }
  {{- end }}
  {{- if and .keys (include "headwater.tlsSources" (list $root .role)) }}
  - { name: tls, mountPath: /tls, readOnly: true }
  {{- end }}
  {{- if and .keys $root.Values.nats.credentials }}
  - { name: nats, mountPath: /nats, readOnly: true }
  {{- end }}
{{- end -}}

{{/* A Job of the release; call with (dict "root" $ "role" … "environment" list "backoffLimit" number "activeDeadlineSeconds" number). */}}
{{- define "headwater.jobSpec" -}}
{{- $root := .root -}}
backoffLimit: {{ .backoffLimit | default 20 }}
{{- with .activeDeadlineSeconds }}
activeDeadlineSeconds: {{ . | int64 }}
{{- end }}
template:
  metadata:
    labels: {{- include "headwater.labels" (list $root .role) | nindent 6 }}
  spec:
    restartPolicy: OnFailure
    serviceAccountName: headwater-{{ .account | default .role }}
    automountServiceAccountToken: {{ or .token (not .keys) }}
    enableServiceLinks: false
    securityContext: {{- include "headwater.podSecurity" 65532 | nindent 6 }}
    {{- with $root.Values.imagePullSecrets }}
    imagePullSecrets:
      {{- range . }}
      - name: {{ . }}
      {{- end }}
    {{- end }}
    {{- with .before }}
    initContainers:
      - {{ include "headwater.jobContainer" (merge . $) | indent 8 | trim }}
    {{- end }}
    containers:
      - {{ include "headwater.jobContainer" . | indent 8 | trim }}
    volumes:
      {{- if .keys }}
      - { name: keys, secret: { secretName: {{ .keys }}, defaultMode: 0440 } }
      {{- end }}
      - { name: data, emptyDir: {} }
      - { name: tmp, emptyDir: {} }
      {{- with .claim }}
      - { name: backups, persistentVolumeClaim: { claimName: {{ . }} } }
      {{- end }}
      {{- if and .keys (include "headwater.tlsSources" (list $root .role)) }}
      - name: tls
        projected:
          defaultMode: 0440
          sources:
            {{- include "headwater.tlsSources" (list $root .role) | nindent 12 }}
      {{- end }}
      {{- if and .keys $root.Values.nats.credentials }}
      - name: nats
        projected:
          defaultMode: 0440
          sources:
            {{- include "headwater.natsSources" $root | nindent 12 }}
      {{- end }}
{{- end -}}
