import { once } from 'node:events'
import { isStatus, StatusError } from '../../../base/status-error.js'
import type { Output } from '../../../proto/codec.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { type Naming, writeName } from './names.js'
import { METHODS, type RemoteServer } from './remote-server.js'
import { type UploadSource, uploadSource } from './upload-source.js'

type WriteResponse = Output<'google.bytestream.WriteResponse'>
type WriteStatus = Output<'google.bytestream.QueryWriteStatusResponse'>

/** The state of an upload. */
interface Progress {
  readonly name: string
  /** Undefined for an encoded blob. */
  readonly sizeBytes: number | undefined
  readonly source: UploadSource
  isStarted: boolean
  /** The source has failed, so another attempt would fail too. */
  isOver: boolean
}

/**
 * One ByteStream.Write of a blob in its encoding. After a lost connection the upload resumes where the server is, as
 * long as the missing bytes are still kept.
 */
export const writeBlob = async (
  server: RemoteServer,
  naming: Naming,
  digest: Digest,
  blob: Blob,
  call: Call,
): Promise<void> => {
  const isZstd = blob.encoding === 'ZSTD'
  const source = await uploadSource(blob, call.signal)
  const progress: Progress = {
    name: writeName(naming, digest, isZstd),
    sizeBytes: isZstd ? undefined : digest.sizeBytes,
    source,
    isStarted: false,
    isOver: false,
  }
  try {
    const attempt = async (signal: AbortSignal): Promise<void> => {
      const at = progress.isStarted ? await committedBytes(server, progress, callWith(call, { signal })) : 0
      progress.isStarted = true
      if (at !== DONE) await send(server, progress, at, callWith(call, { signal }))
    }
    await server.requests.run(call, attempt, { isRepeatable: () => !progress.isOver, timeoutMs: 0 })
    await source.drain()
  } finally {
    await source.close()
  }
}

/** Instead of a position: the server has the whole blob. */
const DONE = -1

const committedBytes = async (server: RemoteServer, { name }: Progress, call: Call): Promise<number> => {
  try {
    const request = { resourceName: name }
    const status = await server.attempt<WriteStatus>(METHODS.queryWriteStatus, request, call)
    return status.complete ? DONE : status.committedSize
  } catch (thrown) {
    const error = server.failureOf(thrown)
    // The server was restarted and does not know the upload.
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'UNIMPLEMENTED')) return 0
    throw error
  }
}

const send = async (server: RemoteServer, progress: Progress, from: number, call: Call): Promise<void> => {
  const upstream = await server.clientStream<WriteResponse>(METHODS.write, call)
  let isAnswered = false
  const answered = upstream.answer.finally(() => {
    isAnswered = true
  })
  answered.catch(() => {})
  try {
    for (let position = from, isLast = false; !isLast && !isAnswered; ) {
      const data = await readAt(progress, position)
      isLast = data.length === 0
      const resourceName = position === from ? progress.name : ''
      const isRoom = upstream.stream.write({ resourceName, writeOffset: position, data, finishWrite: isLast })
      position += data.length
      if (isLast) upstream.stream.end()
      else if (!isRoom) await Promise.race([once(upstream.stream, 'drain'), answered])
    }
    checkAnswer(await answered, progress)
  } catch (error) {
    upstream.stream.cancel()
    throw error
  }
}

const readAt = async (progress: Progress, position: number): Promise<Buffer> => {
  try {
    return await progress.source.read(position)
  } catch (error) {
    progress.isOver = true
    throw error
  }
}

/** An early response means that the server has the blob. For an encoded blob the committed size may be -1. */
const checkAnswer = ({ committedSize }: WriteResponse, { sizeBytes }: Progress): void => {
  if (sizeBytes === undefined || committedSize === sizeBytes) return
  throw new StatusError('DATA_LOSS', `the server has ${committedSize} of ${sizeBytes} bytes of the upload`)
}
