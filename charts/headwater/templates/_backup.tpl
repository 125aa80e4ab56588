{{/* The PersistentVolumeClaim with the backups. */}}
{{- define "headwater.backupClaim" -}}
{{- .Values.backup.existingClaim | default "headwater-backups" -}}
{{- end -}}

{{/* Does this installation begin with a backup? Upgrades by Helm never do. */}}
{{- define "headwater.restores" -}}
{{- if and .Release.IsInstall .Values.backup.restore }}true{{ end -}}
{{- end -}}

{{/* Every kind of the group, by its definition, as a JSON array. */}}
{{- define "headwater.ownResources" -}}
{{- $resources := list -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}{{ $resources = append $resources (base $path | trimSuffix ".yaml") }}{{ end -}}
{{- toJson $resources -}}
{{- end -}}
