{{- define "neuron-emf.name" -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "neuron-emf.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "neuron-emf.labels" -}}
{{ include "neuron-emf.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "neuron-emf.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "neuron-emf.name" .) -}}
{{- else -}}
{{- required "serviceAccount.name is empty and serviceAccount.create is false. Set the name of an existing service account." .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "neuron-emf.priorityClass" -}}
{{- .Values.priorityClassName | default (ternary (include "neuron-emf.name" .) "" .Values.priorityClass.create) -}}
{{- end -}}

{{- define "neuron-emf.image" -}}
{{- $repository := required "image.repository is empty. Set the repository to which you pushed the image, see docs/how-to/container.md." .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* Return a setting's value in the form of its variable: a list with commas, a whole number without a point. */ -}}
{{- define "neuron-emf.setting" -}}
{{- if kindIs "slice" . -}}{{ join "," . }}
{{- else if kindIs "float64" . -}}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else -}}{{ . }}
{{- end -}}
{{- end -}}
