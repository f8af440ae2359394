import { FrameType, PREFACE } from '../../src/server/http2/frame/frame.js'
import { frame, message, RawClient, requestBlock, SETTINGS, SETTINGS_ACK, uint32 } from '../server/http2/raw-client.js'

const BODY_BYTES = 16_000
/** SETTINGS_INITIAL_WINDOW_SIZE: the server may send so many bytes on each stream. */
export const windowOf = (sizeBytes: number): Buffer =>
  frame(FrameType.SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(sizeBytes)]))

/** The connection of one client: calls get the next stream each. */
export class Caller {
  readonly client: RawClient
  #nextId = 1

  private constructor(client: RawClient) {
    this.client = client
  }

  static async from(address: string, port: number, settings = SETTINGS): Promise<Caller> {
    return new Caller(await RawClient.from(address, port, PREFACE, settings, SETTINGS_ACK))
  }

  /** A request whose body is sent as far as given; it stays open unless `isEnd`. */
  begin(path: string, body: Buffer, isEnd: boolean, fields: readonly (readonly [string, string])[] = []): number {
    const id = this.#nextId
    this.#nextId += 2
    const frames = [frame(FrameType.HEADERS, 4, id, requestBlock(`/${path}`, fields))]
    for (let at = 0; at < body.length; at += BODY_BYTES) {
      const isLast = at + BODY_BYTES >= body.length
      frames.push(frame(FrameType.DATA, isEnd && isLast ? 1 : 0, id, body.subarray(at, at + BODY_BYTES)))
    }
    this.client.write(...frames)
    return id
  }

  /** Resolves once the server has read all that was sent. */
  async synced(): Promise<void> {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(this.#nextId, 4)
    this.client.write(frame(FrameType.PING, 0, 0, payload))
    await this.client.until((heard) => heard.type === FrameType.PING && heard.payload.equals(payload))
    this.client.heard.length = 0
  }

  /** A whole call: its status, undefined where the connection or the stream has ended without one, and how long it took. */
  async call(
    path: string,
    ...messages: readonly Buffer[]
  ): Promise<{ readonly status: string | undefined; readonly ms: number }> {
    const startedMs = performance.now()
    const id = this.begin(path, Buffer.concat(messages.map((bytes) => message(bytes))), true)
    const ended = await this.client.until(
      ({ streamId, type, fields }) =>
        streamId === id && (fields['grpc-status'] !== undefined || type === FrameType.RST_STREAM),
    )
    this.client.heard.length = 0
    return { status: ended?.fields['grpc-status'], ms: performance.now() - startedMs }
  }

  close(): void {
    this.client.destroy()
  }
}
