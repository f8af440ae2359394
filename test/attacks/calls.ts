import { FrameType, PREFACE } from '../../src/server/http2/frame/frame.js'
import { frame, message, RawClient, requestBlock, SETTINGS_ACK, uint32 } from '../server/http2/raw-client.js'

const BODY_BYTES = 16_000
/** What the server takes of a stream before it has read any of it. */
const STREAM_WINDOW = 256 * 1024
const OPEN_WINDOW = 2 ** 30
/** SETTINGS_INITIAL_WINDOW_SIZE: how many bytes the server may send on each stream. */
export const windowOf = (sizeBytes: number): Buffer =>
  frame(FrameType.SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(sizeBytes)]))

/** The connection of one client: calls get the next stream each. */
export class Caller {
  readonly client: RawClient
  #nextId = 1

  private constructor(client: RawClient) {
    this.client = client
  }

  /** Takes whatever comes, unless `settings` close the windows of its streams. */
  static async from(address: string, port: number, settings = windowOf(OPEN_WINDOW)): Promise<Caller> {
    const ofConnection = frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(OPEN_WINDOW))
    return new Caller(await RawClient.from(address, port, PREFACE, settings, SETTINGS_ACK, ofConnection))
  }

  /** A request whose body is sent as far as given; it stays open unless `isEnd`. */
  begin(path: string, body: Buffer, isEnd: boolean, fields: readonly (readonly [string, string])[] = []): number {
    const id = this.#nextId
    this.#nextId += 2
    // In one write: a second one would wait for the acknowledgement of the first.
    this.client.write(frame(FrameType.HEADERS, 4, id, requestBlock(`/${path}`, fields)), ...bodyFrames(id, body, isEnd))
    return id
  }

  /** More of the body of an open request. */
  send(id: number, body: Buffer, isEnd: boolean): void {
    this.client.write(...bodyFrames(id, body, isEnd))
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
    // biome-ignore lint/plugin: only told
    const startedMs = performance.now()
    const id = this.begin(path, Buffer.concat(messages.map((bytes) => message(bytes))), true)
    // biome-ignore lint/plugin: only told
    return { status: await this.#statusOf(id), ms: performance.now() - startedMs }
  }

  /** As `call`, for a request of many messages: each is sent once the window of its stream takes it. */
  async upload(path: string, messages: Iterable<Buffer>): Promise<string | undefined> {
    const id = await this.stalledUpload(path, messages)
    this.client.write(frame(FrameType.DATA, 1, id))
    return this.#statusOf(id)
  }

  /** As `upload`, without an end. Sends nothing more once the server has ended the stream. */
  async stalledUpload(path: string, messages: Iterable<Buffer>): Promise<number> {
    const id = this.begin(path, Buffer.alloc(0), false)
    let sentBytes = 0
    for (const bytes of messages) {
      const body = message(bytes)
      sentBytes += body.length
      await this.client.until(
        () => STREAM_WINDOW + this.#grantedTo(id) >= sentBytes || this.statusSoFar(id) !== undefined,
      )
      if (this.statusSoFar(id) !== undefined) return id
      this.send(id, body, false)
    }
    return id
  }

  /** Undefined until the server has ended a stream with a status. */
  statusSoFar(id: number): string | undefined {
    return this.client.heard.find(({ streamId, fields }) => streamId === id && fields['grpc-status'] !== undefined)
      ?.fields['grpc-status']
  }

  /** By WINDOW_UPDATE (RFC 9113, 6.9). */
  #grantedTo(id: number): number {
    const updates = this.client.heard.filter(
      ({ type, streamId }) => type === FrameType.WINDOW_UPDATE && streamId === id,
    )
    return updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0)
  }

  async #statusOf(id: number): Promise<string | undefined> {
    const ended = await this.client.until(
      ({ streamId, type, fields }) =>
        streamId === id && (fields['grpc-status'] !== undefined || type === FrameType.RST_STREAM),
    )
    this.client.heard.length = 0
    return ended?.fields['grpc-status']
  }

  close(): void {
    this.client.destroy()
  }
}

const bodyFrames = (id: number, body: Buffer, isEnd: boolean): readonly Buffer[] => {
  const frames: Buffer[] = []
  for (let at = 0; at < body.length; at += BODY_BYTES) {
    const isLast = at + BODY_BYTES >= body.length
    frames.push(frame(FrameType.DATA, isEnd && isLast ? 1 : 0, id, body.subarray(at, at + BODY_BYTES)))
  }
  return frames
}
