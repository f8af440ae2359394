/** An OTLP collector that stores what it receives: gRPC on one port, HTTP on another. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import {
  createServer as createHttp2Server,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { type Decoded, decodeMetrics, decodeTraces, labelsOf } from './otlp-messages.js'

export class Collector {
  /** The value of each series by `name{label=value,…}`; for a histogram the number of its values. */
  readonly values = new Map<string, number>()
  readonly metrics = new Map<string, Decoded>()
  resource: Record<string, string> = {}
  headers: Record<string, unknown> = {}
  isGzip = false
  requests = 0
  /** Common names of the client certificates. */
  readonly clients = new Set<string>()
  /** Server names that clients requested (SNI). */
  readonly serverNames = new Set<string>()
  readonly spans: ReceivedSpan[] = []
  readonly #waiting = new Set<() => void>()

  /** Resolves once the received data satisfies `isEnough`. */
  until(isEnough: (collector: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isEnough(this)) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** The non-zero series of a metric by their labels, `a=1,b=2`. */
  of(name: string): Record<string, number> {
    const own = [...this.values].filter(([key, value]) => key.startsWith(`${name}{`) && value !== 0)
    return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1, -1), value]))
  }

  met(socket: Socket): void {
    const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined
    if (typeof name === 'string') this.clients.add(name)
  }

  takeMetrics(bytes: Uint8Array): void {
    const { resourceMetrics } = decodeMetrics(bytes)
    for (const { resource, scopeMetrics } of resourceMetrics) {
      this.resource = labelsOf(resource.attributes)
      for (const { metrics } of scopeMetrics) for (const metric of metrics) this.#takeMetric(metric)
    }
    this.#received()
  }

  takeTraces(bytes: Uint8Array): void {
    for (const { resource, scopeSpans } of decodeTraces(bytes).resourceSpans) {
      this.resource = labelsOf(resource.attributes)
      for (const span of scopeSpans.flatMap(({ spans }: Decoded) => spans)) {
        this.spans.push({
          ...{ name: span.name, kind: span.kind, tookNs: span.endTimeUnixNano - span.startTimeUnixNano },
          ...{ trace: hex(span.traceId), id: hex(span.spanId), parent: hex(span.parentSpanId) },
          ...{ state: span.traceState, status: span.status?.code ?? 0, attributes: labelsOf(span.attributes) },
          links: span.links.map((link: Decoded) => ({ trace: hex(link.traceId), id: hex(link.spanId) })),
        })
      }
    }
    this.#received()
  }

  #takeMetric(metric: Decoded): void {
    this.metrics.set(metric.name, metric)
    for (const point of (metric.sum ?? metric.gauge ?? metric.histogram).dataPoints) {
      const labels = Object.entries(labelsOf(point.attributes)).map(([name, value]) => `${name}=${value}`)
      this.values.set(`${metric.name}{${labels.join(',')}}`, metric.histogram ? point.count : point.asDouble)
    }
  }

  #received(): void {
    this.requests += 1
    for (const look of this.#waiting) look()
  }
}

export interface ReceivedSpan {
  readonly name: string
  /** 1 internal, 2 server. */
  readonly kind: number
  readonly tookNs: number
  readonly trace: string
  readonly id: string
  readonly parent: string
  readonly state: string
  /** 2 for an error. */
  readonly status: number
  readonly attributes: Record<string, string>
  readonly links: readonly { readonly trace: string; readonly id: string }[]
}

const hex = (bytes: Buffer): string => bytes.toString('hex')

export interface Collecting {
  readonly collector: Collector
  readonly grpc: string
  readonly http: string
}

/** The collector's TLS files, and the authority of its clients' certificates, if it requires any. */
export interface CollectorTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca?: Buffer
}

export const collect = async (t: Test, tls?: CollectorTls): Promise<Collecting> => {
  const collector = new Collector()
  return { collector, grpc: await overGrpc(t, collector, tls), http: await overHttp(t, collector, tls) }
}

const heard = (tls: CollectorTls, { serverNames }: Collector) => ({
  ...{ ...tls, requestCert: tls.ca !== undefined },
  SNICallback: (name: string, done: (error: null) => void): void => {
    serverNames.add(name)
    done(null)
  },
})

const overHttp = async (t: Test, collector: Collector, tls: CollectorTls | undefined): Promise<string> => {
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request)
    collector.isGzip = request.headers['content-encoding'] === 'gzip'
    collector.headers = request.headers
    collector.met(request.socket)
    const bytes = collector.isGzip ? gunzipSync(body) : body
    if (request.url === '/v1/metrics') collector.takeMetrics(bytes)
    if (request.url === '/v1/traces') collector.takeTraces(bytes)
  }
  const answer: RequestListener = (request, response) => void receive(request).then(() => response.end())
  const server = tls === undefined ? createServer(answer) : createTlsServer(heard(tls, collector), answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const SERVICE = '/opentelemetry.proto.collector'
/** Head of a gRPC message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5

/** Parses messages itself to see whether they were compressed; libraries decompress silently. */
const overGrpc = async (t: Test, collector: Collector, tls: CollectorTls | undefined): Promise<string> => {
  const receive = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
    const body = await buffer(stream)
    collector.headers = headers
    if (stream.session !== undefined) collector.met(stream.session.socket)
    collector.isGzip = body[0] === 1 && headers['grpc-encoding'] === 'gzip'
    // A sender that was held up for longer than its time limit has given up in the middle, and sends again.
    if (body.length < PREFIX_BYTES || body.length < PREFIX_BYTES + body.readUInt32BE(1)) return
    const message = body.subarray(PREFIX_BYTES, PREFIX_BYTES + body.readUInt32BE(1))
    const bytes = collector.isGzip ? gunzipSync(message) : message
    if (headers[':path'] === `${SERVICE}.metrics.v1.MetricsService/Export`) collector.takeMetrics(bytes)
    if (headers[':path'] === `${SERVICE}.trace.v1.TraceService/Export`) collector.takeTraces(bytes)
    // The sender may have exited by now.
    if (stream.destroyed) return
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.alloc(PREFIX_BYTES))
  }
  const server = tls === undefined ? createHttp2Server() : createSecureServer(heard(tls, collector))
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session: ServerHttp2Session) => sessions.add(session))
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void receive(stream, headers))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}
