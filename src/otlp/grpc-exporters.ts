// Imported statically: the names of these packages are found so in the built program, which has them as CommonJS, and not by a
// dynamic import. This module itself is imported lazily, because most processes export nothing over gRPC.
export { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc'
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
