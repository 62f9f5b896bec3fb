{{/* Refuses, with words, what the schema can't describe. */}}
{{- define "pasteflow.checks" -}}
{{- $found := include "pasteflow.placeholders" (dict "value" .Values "path" "") | trim }}
{{- if $found }}
{{- fail (printf "these values still have what the examples have: %s. Write your own" ($found | splitList "\n" | join ", ")) }}
{{- end }}
{{- if not .Values.image.repository }}
{{- fail "image.repository is empty: name where the images are, without /api and the tag" }}
{{- end }}
{{- range list "PUBLIC_URL" "AWS_REGION" }}
{{- if not (index $.Values.settings .) }}
{{- fail (printf "settings.%s is empty: .env.example says what it means" .) }}
{{- end }}
{{- end }}
{{- $url := urlParse .Values.settings.PUBLIC_URL }}
{{- if or (ne $url.scheme "https") (not $url.host) }}
{{- fail "settings.PUBLIC_URL is no https URL: browsers keep neither sessions nor clipboard without TLS" }}
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.route.enabled) (not (has $url.path (list "" "/"))) }}
{{- fail "settings.PUBLIC_URL has a path, which ingress and route don't remove from the requests: make an entrance of your own" }}
{{- end }}
{{- if or $url.query $url.fragment (ne $url.host (lower $url.host)) }}
{{- fail "settings.PUBLIC_URL has a query, a fragment or capital letters in its host: remove them" }}
{{- end }}
{{- if and .Values.route.enabled (not .Values.route.parentRefs) }}
{{- fail "route.parentRefs is empty: name the Gateway" }}
{{- end }}
{{- if and .Values.route.enabled .Values.ingress.enabled }}
{{- fail "both ingress and route are enabled: enable one" }}
{{- end }}
{{- if ne (.Values.house.logo | default "" | toString) (empty .Values.houseLogo | ternary "" "logo.svg") }}
{{- fail "house.logo and houseLogo belong together: house.logo is \"logo.svg\", and houseLogo has the file" }}
{{- end }}
{{- if and .Values.certificates .Values.settings.NODE_EXTRA_CA_CERTS }}
{{- fail "settings.NODE_EXTRA_CA_CERTS is set by the chart when certificates names a ConfigMap: put all authorities into that" }}
{{- end }}
{{- /* Kubernetes would refuse it only after the migration. */}}
{{- range $of, $scaling := dict "api.autoscaling" .Values.api.autoscaling "keda" .Values.keda }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
{{- fail (printf "%s.minReplicas is above %s.maxReplicas" $of $of) }}
{{- end }}
{{- end }}
{{- /* YAML would take the last of two without a word. */}}
{{- range $of := list "api" "upload-worker" "janitor" "migrate" }}
{{- range $name, $_ := (index $.Values $of).pod }}
{{- if has $name (list "containers" "volumes" "securityContext" "serviceAccount" "serviceAccountName" "automountServiceAccountToken"
  "imagePullSecrets" "enableServiceLinks" "terminationGracePeriodSeconds" "restartPolicy") }}
{{- fail (printf "%s.pod: %s is set by the chart: remove it" $of $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- $known := .Files.Get "files/env.example" }}
{{- $secret := list "DATABASE_URL" "AWS_SECRET_ACCESS_KEY" "WEBHOOK_KEY" "OIDC_CLIENT_SECRET" "OPS_TOKEN" "OPS_READ_TOKEN" "OPS_OIDC_CLIENT_SECRET"
  "PASTEFLOW_API_PASSWORD" "PASTEFLOW_WORKER_PASSWORD" "PASTEFLOW_JANITOR_PASSWORD" }}
{{- $set := list "HOUSE" "JOB_TYPES" "METRICS_HOST" "METRICS_PORT" "API_HOST" "API_PORT" "OPS_HOST" "OPS_PORT" }}
{{- $all := dict "settings" .Values.settings }}
{{- range list "api" "upload-worker" "janitor" "migrate" }}
{{- $_ := set $all (printf "%s.settings" .) (index $.Values . "settings") }}
{{- end }}
{{- range $of, $settings := $all }}
{{- /* Job types of one's own may read settings of their own. */}}
{{- $free := and $.Values.jobTypes (has $of (list "api.settings" "upload-worker.settings")) }}
{{- range $name, $_ := $settings }}
{{- if has $name $secret }}
{{- fail (printf "%s: %s is a secret: put it into a Secret that `secrets` names" $of $name) }}
{{- end }}
{{- if has $name $set }}
{{- fail (printf "%s: %s is set by the chart: remove it" $of $name) }}
{{- end }}
{{- if not (or $free (contains (printf "\n# %s=" $name) $known) (regexMatch "^(OTEL|NODE)_" $name)) }}
{{- fail (printf "%s: no service reads %s; .env.example lists every setting" $of $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A line for each text that only an example has: the domains of RFC 2606, accounts of one digit, CHANGE_ME. */}}
{{- define "pasteflow.placeholders" -}}
{{- $path := .path }}
{{- if kindIs "map" .value }}
{{- range $key, $inner := .value }}
{{- include "pasteflow.placeholders" (dict "value" $inner "path" (printf "%s.%s" $path $key | trimPrefix ".")) }}
{{- end }}
{{- else if kindIs "slice" .value }}
{{- range $index, $inner := .value }}
{{- include "pasteflow.placeholders" (dict "value" $inner "path" (printf "%s[%d]" $path $index)) }}
{{- end }}
{{- else if and (kindIs "string" .value) (ne $path "jobTypes") (regexMatch "(?i)\\bexample\\.(com|net|org)\\b|\\b(1{12}|2{12})\\b|change[-_]?me" .value) }}
{{- println $path }}
{{- end }}
{{- end }}
