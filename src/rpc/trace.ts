import type { StatusError } from '../base/status-error.js'

/** Where a trace goes on elsewhere: the two fields of W3C Trace Context, as their headers are. */
export interface TraceContext {
  readonly traceparent: string
  /** Empty for none. */
  readonly tracestate: string
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work as its trace shows it. Ends once; what has begun below it may end later. */
export interface Span {
  /** For who goes on with this work in another process. */
  readonly context: TraceContext
  /** A piece of this one. */
  begin(name: string, attributes?: SpanAttributes): Span
  /** Says that this work waits for a piece of work of another trace. */
  link(other: TraceContext): void
  /** `failure` is what it came to, if that is not OK. */
  end(failure?: StatusError, attributes?: SpanAttributes): void
}

export interface SpanStart {
  /** The work it is a piece of; absent for one that nobody asked for. */
  readonly parent?: TraceContext | undefined
  /** Who asked is another process. */
  readonly isServer?: boolean
  /** Milliseconds since 1970. Default: now. */
  readonly startMs?: number
  readonly attributes?: SpanAttributes
}

/** Begins what nothing in this process is above of. */
export interface Tracer {
  /** Undefined when this one is not to be traced. */
  begin(name: string, start: SpanStart): Span | undefined
}

/** Work of another process, as what is below it: it is begun and ended there. */
export const spanElsewhere = (tracer: Tracer, context: TraceContext): Span => {
  const span: Span = {
    context,
    begin: (name, attributes) => tracer.begin(name, { parent: context, ...(attributes && { attributes }) }) ?? span,
    link: () => {},
    end: () => {},
  }
  return span
}

/** The headers by which a client says what its call is a piece of; a broken `traceparent` is none. */
export const traceContextOf = (headers: ReadonlyMap<string, string | Buffer>): TraceContext | undefined => {
  const traceparent = headers.get('traceparent')
  const tracestate = headers.get('tracestate')
  if (typeof traceparent !== 'string') return undefined
  return { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : '' }
}
