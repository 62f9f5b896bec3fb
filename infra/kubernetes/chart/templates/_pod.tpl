{{/*
The template of a pod. It takes a dict: root; name of the service; entry; metricsPort, which the migration has not; ports, secrets and
env, which only some services have; files: whether it reads house.json and job types.
*/}}
{{- define "pasteflow.pod" }}
{{- $root := .root }}
{{- $name := .name }}
{{- $values := $root.Values }}
{{- $own := index $values $name }}
{{- $files := dict }}
{{- if .files }}
{{- $files = include "pasteflow.files" $root | fromYaml }}
{{- end }}
metadata:
  labels:
    {{- include "pasteflow.selector" (list $root $name) | nindent 4 }}
    app.kubernetes.io/part-of: pasteflow
  annotations:
    {{- /* Without it, pods would go on with the settings and files that they began with. */}}
    pasteflow.io/configuration: {{ list $values.settings $files | toJson | sha256sum | trunc 16 | quote }}
    {{- if and .metricsPort (not $values.monitoring.podMonitor.enabled) }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: {{ .metricsPort | quote }}
    {{- end }}
spec:
  {{- with $own.pod }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- if not .metricsPort }}
  restartPolicy: Never
  {{- else if not (hasKey $own.pod "topologySpreadConstraints") }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "pasteflow.selector" (list $root $name) | nindent 10 }}
    {{- end }}
  {{- end }}
  serviceAccountName: {{ $root.Release.Name }}-{{ $name }}
  automountServiceAccountToken: false
  enableServiceLinks: false # a release called api would give API_PORT=tcp://…
  terminationGracePeriodSeconds: {{ add 25 ($own.drainSeconds | default 5) }} # it stops within 10 after what it drains
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: {{ $name }}
      image: {{ printf "%s/%s:%s" $values.image.repository $name ($values.image.tag | default $root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ .entry }}]
      {{- if .metricsPort }}
      ports:
        {{- range .ports }}
        - { name: {{ .name }}, containerPort: {{ .containerPort }} }
        {{- end }}
        - { name: metrics, containerPort: {{ .metricsPort }} }
      {{- end }}
      envFrom:
        {{- if .metricsPort }}
        - configMapRef: { name: {{ $root.Release.Name }}-settings }
        {{- end }}
        - secretRef: { name: {{ index $values.secrets.database $name }} }
        {{- range .secrets }}
        - secretRef: { name: {{ . }}, optional: true }
        {{- end }}
        {{- if and .metricsPort $values.secrets.aws }}
        - secretRef: { name: {{ $values.secrets.aws }} }
        {{- end }}
      {{- $env := merge (dict) $own.settings (.env | default dict) }}
      {{- if not .metricsPort }}
      {{- /* The ConfigMap isn't there yet when the migration is a hook. */}}
      {{- $env = merge $env $values.settings }}
      {{- end }}
      {{- if hasKey $files "house.json" }}
      {{- $_ := set $env "HOUSE" "/etc/pasteflow/house.json" }}
      {{- end }}
      {{- if hasKey $files "job-types.mts" }}
      {{- $_ := set $env "JOB_TYPES" "/etc/pasteflow/job-types.mts" }}
      {{- end }}
      {{- if $values.certificates }}
      {{- $_ := set $env "NODE_EXTRA_CA_CERTS" "/etc/pasteflow/ca.crt" }}
      {{- end }}
      {{- with $env }}
      env:
        {{- range $key, $value := . }}
        - { name: {{ $key }}, value: {{ $value | quote }} }
        {{- end }}
      {{- end }}
      {{- with .probes }}
      {{- . | nindent 6 }}
      {{- end }}
      resources:
        {{- toYaml $own.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      {{- if or $files $values.certificates }}
      {{- /* Each file by itself: a whole ConfigMap is a folder of links, with a mode by which everybody may write to it. */}}
      volumeMounts:
        {{- range $file, $_ := $files }}
        - { name: files, mountPath: /etc/pasteflow/{{ $file }}, subPath: {{ $file }}, readOnly: true }
        {{- end }}
        {{- if $values.certificates }}
        - { name: certificates, mountPath: /etc/pasteflow/ca.crt, subPath: ca.crt, readOnly: true }
        {{- end }}
  volumes:
    {{- if $files }}
    - name: files
      configMap: { name: {{ $root.Release.Name }}-files, defaultMode: 0444 }
    {{- end }}
    {{- with $values.certificates }}
    - name: certificates
      configMap: { name: {{ . }}, defaultMode: 0444 }
    {{- end }}
      {{- end }}
{{- end }}

{{/* What the ConfigMap of the files has, as YAML: nothing, without a house and job types. */}}
{{- define "pasteflow.files" -}}
{{- $files := dict }}
{{- with .Values.house }}
{{- $_ := set $files "house.json" (toPrettyJson .) }}
{{- end }}
{{- with .Values.houseLogo }}
{{- $_ := set $files "logo.svg" . }}
{{- end }}
{{- with .Values.jobTypes }}
{{- $_ := set $files "job-types.mts" . }}
{{- end }}
{{- with $files }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* Alive is not ready: what a service stands on may be away for hours, and no restart brings that back. */}}
{{- define "pasteflow.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 3
{{- end }}
