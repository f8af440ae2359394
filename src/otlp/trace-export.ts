import {
  type Attributes,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent, TraceState } from '@opentelemetry/core'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { Clock } from '../base/clock.js'
import { Code, codeName, type StatusError } from '../base/status-error.js'
import type { Log } from '../log/log.js'
import type { Span, SpanAttributes, SpanStart, TraceContext, Tracer } from '../rpc/trace.js'
import { within } from '../work/deadline.js'
import { Outcome, reporting } from './outcome.js'
import { renewed } from './renewed.js'
import { resourceOf } from './resource.js'
import { type Destination, type OtlpSettings, SERVICE_NAME } from './settings.js'
import { agentOf, channelOptions, type Pem } from './tls.js'

const FAREWELL_MS = 1_000

/**
 * Exports spans in batches, in the background. The queue is bounded: spans that the collector does not accept
 * in time are dropped. The SDK reads sampler, batch and limits from the environment.
 */
export const startTraceExport = async (
  destination: Destination,
  attributes: OtlpSettings['resourceAttributes'],
  { version, clock, log }: { readonly version: string; readonly clock: Clock; readonly log: Log },
): Promise<{ readonly tracer: Tracer; readonly stop: () => Promise<void> }> => {
  const make = (pem: Pem) => exporterOf(destination, pem)
  const followed = await renewed(make, { what: 'traces', files: destination.files, clock, log })
  const exporter = reporting(followed.exporter, new Outcome('traces', log))
  const provider = new BasicTracerProvider({
    resource: resourceOf(attributes, version),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer(SERVICE_NAME, version)
  /** Undefined if the sampler drops the span; then no child spans are created either. */
  const begin = (name: string, { parent, isServer = false, startMs, attributes }: SpanStart): Span | undefined => {
    const above = parent === undefined ? ROOT_CONTEXT : contextOf(parent)
    const kind = isServer ? SpanKind.SERVER : SpanKind.INTERNAL
    const span = tracer.startSpan(
      name,
      { kind, ...(startMs && { startTime: startMs }), ...attributed(attributes) },
      above,
    )
    return span.isRecording() ? new ExportedSpan(span, below) : undefined
  }
  const below = (span: SdkSpan, name: string, attributes: SpanAttributes | undefined): SdkSpan =>
    tracer.startSpan(name, attributed(attributes), trace.setSpan(ROOT_CONTEXT, span))
  /** Exports pending spans, with a timeout. */
  const stop = async (): Promise<void> => {
    followed.stop()
    const stopped = provider.shutdown().catch(() => {})
    await within(FAREWELL_MS, stopped)
  }
  return { tracer: { begin }, stop }
}

type Below = (span: SdkSpan, name: string, attributes: SpanAttributes | undefined) => SdkSpan

/** Codes that OpenTelemetry counts as errors of a gRPC server. A cache miss, for example, is no error. */
const FAULTS = new Set<number>([
  ...[Code.UNKNOWN, Code.DEADLINE_EXCEEDED, Code.UNIMPLEMENTED, Code.INTERNAL, Code.UNAVAILABLE, Code.DATA_LOSS],
])

class ExportedSpan implements Span {
  readonly #span: SdkSpan
  readonly #below: Below

  constructor(span: SdkSpan, below: Below) {
    this.#span = span
    this.#below = below
  }

  get context(): TraceContext {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext()
    const flags = traceFlags.toString(16).padStart(2, '0')
    return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() ?? '' }
  }

  begin(name: string, attributes?: SpanAttributes): Span {
    return new ExportedSpan(this.#below(this.#span, name, attributes), this.#below)
  }

  link(other: TraceContext): void {
    const context = spanContextOf(other)
    if (context !== undefined) this.#span.addLink({ context })
  }

  end(failure?: StatusError, attributes?: SpanAttributes): void {
    if (attributes !== undefined) this.#span.setAttributes(attributes)
    if (failure !== undefined) {
      this.#span.setAttribute('rpc.grpc.status_code', failure.code)
      const message = `${codeName(failure.code)}: ${failure.message}`
      if (FAULTS.has(failure.code)) this.#span.setStatus({ code: SpanStatusCode.ERROR, message })
    }
    this.#span.end()
  }
}

const attributed = (attributes: SpanAttributes | undefined): { attributes?: Attributes } =>
  attributes === undefined ? {} : { attributes: { ...attributes } }

/** An invalid header counts as absent (W3C Trace Context, 3.2.2 and 4.3). */
const contextOf = (parent: TraceContext) => {
  const above = spanContextOf(parent)
  return above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above)
}

const spanContextOf = ({ traceparent, tracestate }: TraceContext): SpanContext | undefined => {
  const parsed = parseTraceParent(traceparent)
  if (parsed === null) return undefined
  const traceState = tracestate === '' ? {} : { traceState: new TraceState(tracestate) }
  return { ...parsed, ...traceState, isRemote: true }
}

/** Imports lazily: each exporter has its own dependencies, and most processes export nothing. */
const exporterOf = async (destination: Destination, pem: Pem): Promise<SpanExporter> => {
  const { protocol, timeoutMs: timeoutMillis } = destination
  if (protocol === 'grpc') {
    const { OTLPTraceExporter } = await import('./grpc-exporters.js')
    return new OTLPTraceExporter({ timeoutMillis, ...(await channelOptions(destination, pem)) })
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter({ timeoutMillis, httpAgentOptions: agentOf(destination, pem) })
}
