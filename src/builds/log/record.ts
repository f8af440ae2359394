/**
 * The stream that an event belongs to; each has numbers of its own. `about` is a record of ours, the first of a log; `own` are
 * what this server knows of the build itself, without numbers.
 */
export const Stream = { about: 0, tool: 1, invocation: 2, build: 3, own: 4 } as const
export type Stream = (typeof Stream)[keyof typeof Stream]

/** One event as it came, with its number and the time when it was received. */
export interface EventRecord {
  readonly stream: Stream
  readonly number: number
  readonly receivedMs: number
  /** An encoded `google.devtools.build.v1.BuildEvent`. Empty if the log was at its bound: then only the number is kept. */
  readonly event: Buffer
}

const HEAD_BYTES = 17

export const encodeRecords = (records: readonly EventRecord[]): Buffer => {
  const sizeBytes = records.reduce((sum, { event }) => sum + HEAD_BYTES + event.length, 0)
  const bytes = Buffer.allocUnsafe(sizeBytes)
  let at = 0
  for (const { stream, number, receivedMs, event } of records) {
    bytes.writeUInt8(stream, at)
    bytes.writeUIntLE(number, at + 1, 6)
    bytes.writeUIntLE(receivedMs, at + 7, 6)
    bytes.writeUInt32LE(event.length, at + 13)
    event.copy(bytes, at + HEAD_BYTES)
    at += HEAD_BYTES + event.length
  }
  return bytes
}

/** The records share memory with `bytes`. */
export function* decodeRecords(bytes: Buffer): Generator<EventRecord, void, undefined> {
  let at = 0
  while (at < bytes.length) {
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at + 13)
    yield {
      stream: bytes.readUInt8(at) as Stream,
      number: bytes.readUIntLE(at + 1, 6),
      receivedMs: bytes.readUIntLE(at + 7, 6),
      event: bytes.subarray(at + HEAD_BYTES, end),
    }
    at = end
  }
}
