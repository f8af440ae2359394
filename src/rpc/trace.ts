import type { StatusError } from '../base/status-error.js'

/** The context for child spans in another process: the two headers of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string
  /** Empty for none. */
  readonly tracestate: string
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A span of a trace. It ends once; its children may end later. */
export interface Span {
  /** The context for child spans in other processes. */
  readonly context: TraceContext
  /** Begins a child span. */
  begin(name: string, attributes?: SpanAttributes): Span
  /** Records that this work waits for a span of another trace. */
  link(other: TraceContext): void
  /** `failure` is the error of the work, if it failed. */
  end(failure?: StatusError, attributes?: SpanAttributes): void
}

export interface SpanStart {
  /** The parent span; absent for work that no client asked for. */
  readonly parent?: TraceContext | undefined
  /** Whether the caller is another process. */
  readonly isServer?: boolean
  /** Milliseconds since 1970. Default: now. */
  readonly startMs?: number
  readonly attributes?: SpanAttributes
}

/** Begins spans without a parent in this process. */
export interface Tracer {
  /** Undefined when this work is not traced. */
  begin(name: string, start: SpanStart): Span | undefined
}

/** A span of another process, as a parent: it begins and ends there. */
export const spanElsewhere = (tracer: Tracer, context: TraceContext): Span => {
  const span: Span = {
    context,
    begin: (name, attributes) => tracer.begin(name, { parent: context, ...(attributes && { attributes }) }) ?? span,
    link: () => {},
    end: () => {},
  }
  return span
}

/** The trace context in the headers of a client. An invalid `traceparent` counts as none. */
export const traceContextOf = (headers: ReadonlyMap<string, string | Buffer>): TraceContext | undefined => {
  const traceparent = headers.get('traceparent')
  const tracestate = headers.get('tracestate')
  if (typeof traceparent !== 'string') return undefined
  return { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : '' }
}
