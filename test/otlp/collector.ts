/** A collector of OTLP that keeps what it is sent: over gRPC on one port, over HTTP on another. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { type Metadata, Server, ServerCredentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { type Decoded, decodeMetrics, decodeTraces, labelsOf } from './otlp-messages.js'

export class Collector {
  /** The value of each series by `name{label=value,…}`; of a histogram how many values it has. */
  readonly values = new Map<string, number>()
  readonly metrics = new Map<string, Decoded>()
  resource: Record<string, string> = {}
  headers: Record<string, unknown> = {}
  isGzip = false
  requests = 0
  readonly spans: ReceivedSpan[] = []
  readonly #waiting = new Set<() => void>()

  /** Resolves once what was received satisfies `isEnough`. */
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

  /** The series of a metric by their labels, `a=1,b=2`, without those that are 0. */
  of(name: string): Record<string, number> {
    const own = [...this.values].filter(([key, value]) => key.startsWith(`${name}{`) && value !== 0)
    return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1, -1), value]))
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
}

const hex = (bytes: Buffer): string => bytes.toString('hex')

export interface Collecting {
  readonly collector: Collector
  readonly grpc: string
  readonly http: string
}

/** What a collector serves TLS with, and whose certificates it wants of clients. */
export interface CollectorTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer
}

export const collect = async (t: Test, tls?: CollectorTls): Promise<Collecting> => {
  const collector = new Collector()
  return { collector, grpc: await overGrpc(t, collector, tls), http: await overHttp(t, collector, tls) }
}

const overHttp = async (t: Test, collector: Collector, tls: CollectorTls | undefined): Promise<string> => {
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request)
    collector.isGzip = request.headers['content-encoding'] === 'gzip'
    collector.headers = request.headers
    const bytes = collector.isGzip ? gunzipSync(body) : body
    if (request.url === '/v1/metrics') collector.takeMetrics(bytes)
    if (request.url === '/v1/traces') collector.takeTraces(bytes)
  }
  const answer: RequestListener = (request, response) => void receive(request).then(() => response.end())
  const server = tls === undefined ? createServer(answer) : createTlsServer({ ...tls, requestCert: true }, answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const asItIs = (bytes: Buffer): Buffer => bytes
const SERVICE = 'opentelemetry.proto.collector'

const overGrpc = async (t: Test, collector: Collector, tls: CollectorTls | undefined): Promise<string> => {
  const server = new Server()
  const method = (path: string, take: (bytes: Buffer) => void): void => {
    const handle = (
      call: { request: Buffer; metadata: Metadata },
      done: (error: null, bytes: Buffer) => void,
    ): void => {
      collector.headers = call.metadata.getMap()
      take(call.request)
      done(null, Buffer.alloc(0))
    }
    server.register(path, handle, asItIs, asItIs, 'unary')
  }
  method(`/${SERVICE}.metrics.v1.MetricsService/Export`, (bytes) => collector.takeMetrics(bytes))
  method(`/${SERVICE}.trace.v1.TraceService/Export`, (bytes) => collector.takeTraces(bytes))
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(tls.ca, [{ cert_chain: tls.cert, private_key: tls.key }], true)
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, bound: number): void => (error === null ? resolve(bound) : reject(error))
    server.bindAsync('127.0.0.1:0', credentials, bound)
  })
  t.teardown(() => server.forceShutdown())
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
}
