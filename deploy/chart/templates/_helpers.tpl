{{- define "remexec.labels" -}}
app.kubernetes.io/name: remexec
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- /* The pod of a part: what is the same for all of them. Takes root, part, port, resources, data (a volume), env, grace. */ -}}
{{- define "remexec.pod" -}}
metadata:
  labels: {{- include "remexec.labels" . | nindent 4 }}
  annotations:
    checksum/config: {{ include "remexec.config" . | sha256sum }}
spec:
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  # The first process of the pod reaps processes that actions leave behind.
  shareProcessNamespace: true
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .drain 10 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: {{ .part }}
      image: {{ .root.Values.image }}
      imagePullPolicy: {{ .root.Values.imagePullPolicy }}
      args: [/config/{{ .part }}.json5]
      env:
        - { name: REMEXEC_HOST, value: 0.0.0.0 }
        - { name: REMEXEC_PORT, value: {{ .port | quote }} }
        - { name: REMEXEC_DATA, value: /data }
        - { name: REMEXEC_DRAIN, value: {{ .drain }}s }
        - { name: REMEXEC_SERVER, value: "{{ .root.Release.Name }}-server:50051" }
        - { name: REMEXEC_SCHEDULER, value: "{{ .root.Release.Name }}-scheduler:50052" }
        - { name: REMEXEC_WORKER_API, value: "{{ .root.Release.Name }}-scheduler:50061" }
        {{- with concat .env .root.Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - { name: grpc, containerPort: {{ .port }} }
        {{- if eq .part "scheduler" }}
        - { name: workers, containerPort: 50061 }
        {{- end }}
      startupProbe:
        httpGet: { path: /status/live, port: grpc }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /status/live, port: grpc }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        # While a server checks its files against its index, it already serves them.
        httpGet: { path: /status, port: grpc }
        periodSeconds: 5
        timeoutSeconds: 5
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /config, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  {{- with .nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ .root.Release.Name }}-{{ .part }} }
    - name: tmp
      emptyDir: {}
    {{- with .data }}
    - name: data
      emptyDir: {{- toYaml . | nindent 8 }}
    {{- end }}
{{- end }}

{{- define "remexec.config" -}}
{{- get .root.Values.config .part | default (.root.Files.Get (printf "config/%s.json5" .part)) -}}
{{- end }}
