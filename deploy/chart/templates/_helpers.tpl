{{- /* Labels by which the pods of a part are found. They never change, because Kubernetes refuses that. */ -}}
{{- define "remexec.selector" -}}
app.kubernetes.io/name: remexec
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "remexec.labels" -}}
{{ include "remexec.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "remexec.image" -}}
{{- $image := .Values.image }}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}{{ else }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Not empty if the schedulers elect one of them: by Redis, or by the bucket. Takes the root. */ -}}
{{- define "remexec.elects" -}}
{{- if or .Values.scheduler.redis (and .Values.bucket (gt (int .Values.scheduler.replicas) 1)) }}true{{ end }}
{{- end }}

{{- define "remexec.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary .Release.Name "default" .Values.serviceAccount.create) -}}
{{- end }}

{{- define "remexec.tokens" -}}
{{- .Values.auth.existingSecret | default (printf "%s-tokens" .Release.Name) -}}
{{- end }}

{{- /* The pod of a part: what is the same for all of them. Takes root, part, port, drain, values (of the part), data (a volume), env. */ -}}
{{- define "remexec.pod" -}}
{{- $values := .root.Values }}
{{- $hasTls := and $values.tls.enabled (ne .part "worker") }}
{{- $needsToken := and $values.auth.enabled (ne .part "server") }}
{{- $checksTokens := and $values.auth.enabled (ne .part "worker") }}
metadata:
  labels: {{- include "remexec.labels" . | nindent 4 }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "remexec.config" . | sha256sum }}
    {{- with mergeOverwrite (deepCopy $values.podAnnotations) .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  # The first process of the pod reaps processes that actions leave behind.
  shareProcessNamespace: true
  serviceAccountName: {{ include "remexec.serviceAccount" .root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .drain 10 }}
  {{- with .values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext: {{- toYaml $values.podSecurityContext | nindent 4 }}
  containers:
    - name: {{ .part }}
      image: {{ include "remexec.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [/config/{{ .part }}.json5]
      env:
        - { name: REMEXEC_HOST, value: 0.0.0.0 }
        - { name: REMEXEC_PORT, value: {{ .port | quote }} }
        - { name: REMEXEC_DATA, value: /data }
        - { name: REMEXEC_DRAIN, value: {{ .drain }}s }
        - { name: REMEXEC_SCHEME, value: {{ ternary "grpcs" "grpc" $values.tls.enabled }} }
        - { name: REMEXEC_SERVER, value: "{{ .root.Release.Name }}-server:50051" }
        - { name: REMEXEC_SCHEDULER, value: "{{ .root.Release.Name }}-scheduler:50052" }
        - { name: REMEXEC_WORKER_API, value: "{{ .root.Release.Name }}-scheduler:50061" }
        # Tells the parts and pods of a fleet apart in metrics and traces.
        - { name: REMEXEC_POD, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
        - { name: OTEL_RESOURCE_ATTRIBUTES, value: "service.instance.id=$(REMEXEC_POD),svc.instance_name={{ .root.Release.Name }}-{{ .part }}" }
        {{- if $needsToken }}
        - { name: REMEXEC_TOKEN, valueFrom: { secretKeyRef: { name: {{ include "remexec.tokens" .root }}, key: fleet } } }
        {{- end }}
        {{- with concat .env $values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with concat $values.extraEnvFrom .values.extraEnvFrom }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: grpc, containerPort: {{ .port }} }
        {{- if eq .part "scheduler" }}
        - { name: workers, containerPort: 50061 }
        {{- if include "remexec.elects" .root }}
        - { name: peers, containerPort: 50062 }
        {{- end }}
        {{- end }}
      {{- $scheme := ternary "HTTPS" "HTTP" $hasTls }}
      startupProbe:
        httpGet: { path: /status/live, port: grpc, scheme: {{ $scheme }} }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /status/live, port: grpc, scheme: {{ $scheme }} }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        # While a server checks its files against its index, it already serves them.
        httpGet: { path: /status, port: grpc, scheme: {{ $scheme }} }
        periodSeconds: 5
        timeoutSeconds: 5
      resources: {{- toYaml .values.resources | nindent 8 }}
      securityContext: {{- toYaml $values.securityContext | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /config, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $values.tls.enabled }}
        - { name: tls, mountPath: /tls, readOnly: true }
        {{- end }}
        {{- if $checksTokens }}
        - { name: tokens, mountPath: /tokens, readOnly: true }
        {{- end }}
        {{- with concat $values.extraVolumeMounts .values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ .root.Release.Name }}-{{ .part }} }
    - name: tmp
      emptyDir: {}
    {{- if $values.tls.enabled }}
    - name: tls
      secret:
        secretName: {{ required "tls.secretName is needed with tls.enabled: the Secret with tls.crt and tls.key" $values.tls.secretName }}
        defaultMode: 0440
        {{- if eq .part "worker" }}
        # A worker has no port with TLS, and its actions need not see the key.
        {{- with $values.tls.ca }}
        items: [{ key: {{ . }}, path: {{ . }} }]
        {{- else }}
        items: [{ key: tls.crt, path: tls.crt }]
        {{- end }}
        {{- end }}
    {{- end }}
    {{- if $checksTokens }}
    - name: tokens
      secret:
        secretName: {{ include "remexec.tokens" .root }}
        defaultMode: 0440
        items: [{ key: tokens, path: tokens }]
    {{- end }}
    {{- with concat $values.extraVolumes .values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .data }}
    - name: data
      emptyDir: {{- toYaml . | nindent 8 }}
    {{- end }}
{{- end }}

{{- /* The text of a part's configuration. Takes root and part. Comments that begin with `chart:` are where values go. */ -}}
{{- define "remexec.config" -}}
{{- $values := .root.Values }}
{{- $own := get $values.config .part }}
{{- if $own }}{{ $own }}{{ else }}
{{- $text := .root.Files.Get (printf "config/%s.json5" .part) }}
{{- if $values.tls.enabled }}
{{- $text = replace "// chart: tls" "tls: { cert_file: '/tls/tls.crt', key_file: '/tls/tls.key' }," $text }}
{{- $trust := "use_native_roots: true" }}
{{- with $values.tls.ca }}{{ $trust = printf "ca_file: '/tls/%s'" . }}{{ end }}
{{- $text = replace "// chart: client tls" (printf "tls_config: { %s }," $trust) $text }}
{{- end }}
{{- if $values.auth.enabled }}
{{- $text = replace "// chart: token" "headers: { authorization: 'Bearer ${REMEXEC_TOKEN}' }," $text }}
{{- $rules := list }}
{{- /* An issuer of auth.identity could sign the name of a group too. */ -}}
{{- $byToken := list "token" }}
{{- $identity := dict "tokens_file" "/tokens/tokens" }}
{{- if eq .part "server" }}
{{- $rules = list
  (dict "by" $byToken "groups" (list "clients") "may" $values.auth.clientsMay)
  (dict "by" $byToken "groups" (list "fleet") "may" (list "read_cas" "write_cas" "read_ac" "write_ac"))
  (dict "by" $byToken "groups" (list "operators") "may" (list "administer")) }}
{{- $rules = concat $rules $values.auth.access }}
{{- $identity = merge $identity $values.auth.identity }}
{{- else if eq .part "scheduler" }}
{{- /* Servers forward executions of callers that they have identified, and ask for the queue that their pages show; only they reach that port (NetworkPolicy). */ -}}
{{- $rules = list
  (dict "anonymous" true "may" (list "execute" "forward"))
  (dict "by" $byToken "groups" (list "fleet") "may" (list "work")) }}
{{- if include "remexec.elects" .root }}
{{- /* The schedulers speak for all callers to each other. */ -}}
{{- $rules = append $rules (dict "by" $byToken "groups" (list "peers") "may" (list "execute" "forward" "work" "administer")) }}
{{- end }}
{{- end }}
{{- $security := dict "identity" $identity "access" $rules }}
{{- /* The scheduler hears of scopes from the servers. */ -}}
{{- if and $values.auth.scopes (eq .part "server") }}
{{- $_ := set $security "scopes" (dict "rules" $values.auth.scopes) }}
{{- end }}
{{- $text = replace "// chart: security" (printf "security: %s," (toJson $security)) $text }}
{{- else if or $values.auth.identity $values.auth.access $values.auth.scopes }}
{{- fail "auth.identity, auth.access and auth.scopes need auth.enabled=true" }}
{{- end }}
{{- if and (include "remexec.elects" .root) (eq .part "scheduler") }}
{{- $engine := dict }}
{{- $backend := "redis: { redis_store: 'ELECTION' }" }}
{{- if $values.scheduler.redis }}
{{- $engine = dict "redis_store" (merge (dict "key_prefix" (printf "%s:" .root.Release.Name)) $values.scheduler.redis) }}
{{- else }}
{{- $engine = dict "experimental_cloud_object_store" (merge (dict "key_prefix" (printf "election-%s/" .root.Release.Name)) $values.bucket) }}
{{- $backend = "object: { object_store: 'ELECTION' }" }}
{{- end }}
{{- $text = replace "// chart: engine" (printf "%s," (toJson (merge (dict "name" "ELECTION") $engine))) $text }}
{{- $trust := "" }}
{{- if $values.tls.enabled }}
{{- $trust = "tls_config: { use_native_roots: true }, " }}
{{- with $values.tls.ca }}{{ $trust = printf "tls_config: { ca_file: '/tls/%s' }, " . }}{{ end }}
{{- end }}
{{- $endpoint := printf "{ address: '${REMEXEC_SCHEME:-grpc}://${REMEXEC_PEER}', %s}" $trust }}
{{- $text = replace "// chart: election" (printf "experimental_backend: { %s }, peers: { endpoint: %s, headers: { authorization: 'Bearer ${REMEXEC_PEER_TOKEN}' } }," $backend $endpoint) $text }}
{{- $tls := ternary " tls: { cert_file: '/tls/tls.crt', key_file: '/tls/tls.key' }" "" $values.tls.enabled }}
{{- $listener := printf "{ http: { socket_address: '${REMEXEC_HOST:-127.0.0.1}:${REMEXEC_PEERS_PORT:-50062}',%s } }" $tls }}
{{- $services := "{ execution: [{ instance_name: '*', cas_store: 'SCHEDULER_CAS', scheduler: 'MAIN' }], worker_api: { scheduler: 'MAIN' } }" }}
{{- $text = replace "// chart: peers" (printf "{ name: 'peers', listener: %s, services: %s }," $listener $services) $text }}
{{- end }}
{{- if $values.scheduler.ignoreContainerImages }}
{{- $text = replace "// chart: images" "'container-image': 'ignore', 'docker-image': 'ignore'," $text }}
{{- end }}
{{- with $values.pages.address }}
{{- $text = replace "// chart: pages" (printf "address: %s," (toJson .)) $text }}
{{- end }}
{{- if $values.bucket }}
{{- /* The disk in front of the bucket. One server writes there, so results in it do not change by others. */ -}}
{{- $cas := dict "backend" (dict "experimental_cloud_object_store" (merge (dict "key_prefix" "cas/") $values.bucket)) }}
{{- $cas = merge $cas (dict "eviction_policy" (dict "max_seconds" "10m" "max_count" 1000000)) }}
{{- $ac := merge (dict "key_prefix" "ac/") $values.bucket }}
{{- $behind := "when_slow_is_away: 'serve_fast', acknowledge: 'fast'" }}
{{- $text = replace "// chart: disk" "fast_slow: { fast: {" $text }}
{{- $text = replace "// chart: bucket cas" (printf "}, slow: { existence_cache: %s }, %s }," (toJson $cas) $behind) $text }}
{{- $ac = printf "}, slow: { experimental_cloud_object_store: %s }, action_result_max_age_s: 0, %s }," (toJson $ac) $behind }}
{{- $text = replace "// chart: bucket ac" $ac $text }}
{{- end }}
{{- $text }}
{{- end }}
{{- end }}
