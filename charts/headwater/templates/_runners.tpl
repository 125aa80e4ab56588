{{/* One JSON document for the operator: operator/runner-pool/objects/pod-settings.ts says what is in it. */}}
{{- define "headwater.runnerPods" -}}
{{- $environment := dict "HEADWATER_LOG_LEVEL" .Values.settings.logLevel -}}
{{- with .Values.traces.endpoint }}{{ $_ := set $environment "OTEL_EXPORTER_OTLP_ENDPOINT" . }}{{ end -}}
{{- $environment = merge $environment (include "headwater.natsAccountEnvironment" . | fromYaml) -}}
{{- $document := dict
  "namespace" .Release.Namespace
  "release" .Release.Name
  "ownedBy" "headwater-runner-pods"
  "image" (include "headwater.image" .)
  "imagePullPolicy" .Values.image.pullPolicy
  "imagePullSecrets" .Values.imagePullSecrets
  "nats" (dict "tls" (dict "ca" (include "headwater.natsCa" .) "caSecret" (include "headwater.natsCaSecret" .) "clientSecret" .Values.nats.tls.clientSecret) "url" (include "headwater.natsUrl" .) "peers" (include "headwater.natsPeers" . | fromYamlArray) "ports" (include "headwater.natsPorts" . | fromJsonArray))
  "blockedCidrs" .Values.runners.blockedCidrs
  "ipv6" .Values.networkPolicy.ipv6
  "egressAllow" .Values.settings.egressAllow
  "scrapedBy" .Values.networkPolicy.scrapedBy
  "healthPort" 8081
  "resources" .Values.runners.resources
  "runnerResources" .Values.runners.runnerResources
  "podLabels" .Values.runners.podLabels
  "podAnnotations" .Values.runners.podAnnotations
  "environment" (merge $environment .Values.settings.environment)
  "defaultPool" .Values.runners.defaultPool
  "spread" .Values.spread
-}}
{{- if .Values.traces.endpoint }}{{ $_ := set $document "collector" (pick .Values.traces "peers" "ports" "caSecret") }}{{ end -}}
{{- with .Values.runners.priorityClassName | default (ternary "headwater-runners" "" .Values.priorityClasses.enabled) }}{{ $_ := set $document "priorityClassName" . }}{{ end -}}
{{- toJson $document -}}
{{- end -}}
