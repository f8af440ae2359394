import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { type HttpHandler, treeRoute } from '../../../src/http/request.js'
import { type ListenOptions, listen } from '../../../src/server/listener.js'
import { until } from '../../until.js'

/** A listener with one route, `/c`. */
export const listening = async (t: Test, handler: HttpHandler, options: Partial<ListenOptions> = {}) => {
  const routes = [treeRoute('/c', handler, 'open')]
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes, ...options })
  t.teardown(() => listener.close(0))
  return { listener, port: Number(listener.address.split(':').at(-1)) }
}

/** A client that sends what it likes, and keeps what it hears. */
export class RawHttp1 {
  readonly socket: Socket
  said = ''
  isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.said += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
  }

  static async open(port: number, text = '', localAddress = '127.0.0.1'): Promise<RawHttp1> {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    await once(socket, 'connect')
    const client = new RawHttp1(socket)
    client.write(text)
    return client
  }

  write(bytes: string | Buffer): void {
    if (!this.socket.destroyed && bytes.length > 0) this.socket.write(bytes)
  }

  /** Resolves once these bytes have left, or the connection has closed. */
  async sent(bytes: Buffer): Promise<void> {
    if (this.socket.destroyed) return
    await new Promise<void>((resolve) => {
      this.socket.once('close', resolve)
      this.socket.write(bytes, () => {
        this.socket.off('close', resolve)
        resolve()
      })
    })
  }

  /** What the server has said once `pattern` is in it, or the connection has closed. */
  async until(pattern: RegExp): Promise<string> {
    await until(
      () => this.isClosed || pattern.test(this.said),
      () => `${pattern} in ${this.said}`,
    )
    return this.said
  }

  /** Waits for as many answers. */
  async answered(count: number): Promise<void> {
    await until(() => this.isClosed || statusesIn(this.said).length >= count)
  }

  async closed(): Promise<string> {
    await until(() => this.isClosed, 'the end of the connection')
    return this.said
  }
}

/** The statuses of the answers in what a server said. */
export const statusesIn = (said: string): readonly number[] =>
  [...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
