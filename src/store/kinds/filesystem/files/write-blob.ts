import type { BytesInFlight } from '../../../../ledger/bytes-in-flight.js'
import type { Digest } from '../../../../reapi/digest.js'
import type { Call } from '../../../../rpc/call.js'
import type { BlobForm } from '../../../../stream/blob/form.js'
import { pour } from '../../../../stream/blob/pour.js'
import { Semaphore } from '../../../../work/semaphore.js'
import { FileWriter, type FileWriterParts, type Written } from './file-writer.js'

/** Waiting writers allowed per active writer. Beyond that, clients should retry later. */
const WAITING_EACH = 256

/** Bounds the writes in flight; 0 means no bound. */
export const writeSlotsOf = (concurrent: number): Semaphore =>
  new Semaphore({ permits: concurrent, maxWaiting: WAITING_EACH * concurrent })

export interface WriteParts extends Omit<FileWriterParts, 'key' | 'inFlight'> {
  /** Of all uploads into the store. */
  readonly inFlight: BytesInFlight
}

/**
 * Hands what was written to `commit`: small bytes as they are, everything else through a FileWriter. A file counts as in flight until
 * `commit` has settled. Nothing remains if it rejects.
 */
export const writeBlob = async (
  digest: Digest,
  form: BlobForm,
  call: Call,
  parts: WriteParts,
  commit: (written: Written) => Promise<void>,
): Promise<void> => {
  const { smallBytes, fits } = parts
  if (form.kind === 'bytes' && form.bytes.length <= smallBytes && fits(form.bytes.length)) return commit(form.bytes)
  const inFlight = parts.inFlight.begin(call)
  try {
    await commit(await written(form, call, { ...parts, key: digest.key, inFlight }))
  } finally {
    inFlight.release()
  }
}

const written = async (form: BlobForm, call: Call, parts: FileWriterParts): Promise<Written> => {
  const writer = new FileWriter(parts)
  try {
    if (form.kind === 'bytes') await writer.takeAll(form.bytes)
    else
      await pour(
        form,
        (bytes) => writer.take(bytes),
        call.signal,
        () => isWanted(call) || writer.stop(),
      )
    return await writer.finish()
  } catch (error) {
    await giveUp(writer, call)
    throw error
  }
}

/** Whether what has arrived of an interrupted upload is wanted. */
const isWanted = ({ partTaker }: Call): boolean => partTaker?.isWaiting === true

const giveUp = async (writer: FileWriter, call: Call): Promise<void> => {
  try {
    if (!isWanted(call)) return await writer.discard()
    call.partTaker?.take(await writer.finish())
  } catch {
    await writer.discard()
  }
}
