{{/* Head of an admission policy that limits accounts of the release; call with (list $ "name" "account" …). */}}
{{- define "headwater.admissionPolicy" -}}
{{- $root := index . 0 -}}
{{- $users := list -}}
{{- range slice . 2 }}{{ $users = append $users (printf "system:serviceaccount:%s:headwater-%s" $root.Release.Namespace .) }}{{ end -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: headwater-{{ index . 1 }}
  labels: {{- include "headwater.labels" (list $root "admission") | nindent 4 }}
spec:
  policyName: headwater-{{ index . 1 }}
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: headwater-{{ index . 1 }}
  labels: {{- include "headwater.labels" (list $root "admission") | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConditions:
    - name: account
      expression: request.userInfo.username in {{ $users | toJson }}
{{- end -}}

{{/* Names of the Secrets that the release generates, as a JSON array. */}}
{{- define "headwater.generatedSecrets" -}}
{{- $names := list "headwater-keys" "headwater-nats" "headwater-postgres" "headwater-api-key" "headwater-api" "headwater-ingress" "headwater-delivery" "headwater-builder" "headwater-operator" "headwater-setup" "headwater-backup" -}}
{{- if and .Values.api.adminApi (not .Values.api.adminTokenSecret) }}{{ $names = append $names "headwater-admin-token" }}{{ end -}}
{{- toJson $names -}}
{{- end -}}
