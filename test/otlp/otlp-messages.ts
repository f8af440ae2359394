import protobuf from 'protobufjs'
// Sets how protobufjs represents 64-bit integers. It must run before this file parses anything.
import '../../src/proto/root.js'

/** The parts of OTLP that the tests check, by field number. */
const { root } = protobuf.parse(`
syntax = "proto3";
message AnyValue { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }

message MetricsRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { repeated Metric metrics = 2; }
message Metric { string name = 1; string description = 2; string unit = 3; Points gauge = 5; Points sum = 7; Buckets histogram = 9; }
message Points { repeated Point data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Point { repeated KeyValue attributes = 7; fixed64 start = 2; fixed64 time = 3; double as_double = 4; sfixed64 as_int = 6; }
message Buckets { repeated Histogram data_points = 1; int32 aggregation_temporality = 2; }
message Histogram {
  repeated KeyValue attributes = 9; fixed64 start = 2; fixed64 time = 3;
  fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
}

message TracesRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
  repeated Link links = 13;
}
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; }
message Status { string message = 2; int32 code = 3; }
`)

// biome-ignore lint/suspicious/noExplicitAny: the tests state what they expect of it.
export type Decoded = any

const decoder = (name: string) => {
  const type = root.lookupType(name)
  return (bytes: Uint8Array): Decoded =>
    type.toObject(type.decode(bytes), { longs: Number, bytes: Buffer, defaults: true, arrays: true })
}

export const decodeMetrics = decoder('MetricsRequest')

export const decodeTraces = decoder('TracesRequest')

export const labelsOf = (attributes: Decoded[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))
