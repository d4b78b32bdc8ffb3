{{- define "plurank.labels" -}}
app.kubernetes.io/name: plurank
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "plurank.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "plurank.pod" -}}
{{- with .Values.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: var
    emptyDir: {}
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "plurank.container" -}}
image: {{ include "plurank.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - configMapRef: {name: {{ .Release.Name }}-settings}
  - secretRef: {name: {{ .Values.existingSecret }}}
volumeMounts:
  - {name: var, mountPath: /var/lib/plurank}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "plurank.migrated" -}}
# No process of a release starts before the database has what it reads.
- name: migrated
  {{- include "plurank.container" . | nindent 2 }}
  command: ["sh", "-c", "until python manage.py migrate --check; do sleep 3; done"]
{{- end }}
