{{/* What selects the pods of a service of this release: `include "pasteflow.selector" (list . "api")`. */}}
{{- define "pasteflow.selector" -}}
app.kubernetes.io/name: pasteflow
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "pasteflow.release" -}}
app.kubernetes.io/name: pasteflow
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pasteflow.labels" -}}
{{ include "pasteflow.release" . }}
app.kubernetes.io/part-of: pasteflow
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Of what an ordinary Job of the migration needs, so that `kubectl apply --selector` can make it first. */}}
{{- define "pasteflow.prepared" -}}
{{ include "pasteflow.labels" . }}
pasteflow.io/step: prepare
{{- end }}

{{- define "pasteflow.meta" -}}
name: {{ (index . 0).Release.Name }}-{{ index . 1 }}
namespace: {{ (index . 0).Release.Namespace }}
{{- end }}

{{/* The host of PUBLIC_URL, without a port. */}}
{{- define "pasteflow.host" -}}
{{ (urlParse .Values.settings.PUBLIC_URL).host | splitList ":" | first }}
{{- end }}
