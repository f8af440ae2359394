import { isStatus } from '../../base/status-error.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import { allBytes } from '../../content/read-blob.js'
import type { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { blobDigest, parseReadName } from '../../reapi/resource-name.js'
import type { Store } from '../../store/contract/store.js'
import { addressOf } from '../actions/address.js'
import type { Visit } from '../page.js'
import { printedText, type TerminalText } from '../parts/terminal.js'

/** The CAS of an instance; undefined if no server has one. */
export type CasOf = (instance: string) => Store | undefined

/** A blob of a CAS that a file of a build is. */
export interface NamedBlob {
  readonly instance: string
  readonly digest: Digest
}

/** The end of a file as a terminal shows it, or why it cannot be shown. */
export interface ShownText {
  readonly text: TerminalText
  /** Of its begin, which is not shown. */
  readonly cutBytes: number
  readonly why: string | undefined
}

const MAX_SHOWN_BYTES = 128 * 1024
/** Of a `bytestream://` address, the server's name is what the client called it. */
const BYTESTREAM = /^bytestream:\/\/[^/]*\/(.*)$/s

/** The blob that an address names; undefined if it is of the client's machine. */
export const blobOf = ({ uri }: Pick<FileRef, 'uri'>): NamedBlob | undefined => {
  const [, name] = BYTESTREAM.exec(uri ?? '') ?? []
  if (name === undefined) return undefined
  try {
    const parsed = parseReadName(name)
    return { instance: parsed.instanceName, digest: blobDigest(parsed, Object.values(digestFunctions)) }
  } catch (error) {
    if (isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}

/** The address of the page of a file. */
export const fileAddress = ({ instance, digest }: NamedBlob, name: string): string =>
  addressOf(instance, 'file', digest, name.split('/').at(-1) || 'file')

/** The last bytes of a file, if the reader may read the CAS that has it. */
export const textOf = async (file: FileRef, visit: Visit, casOf: CasOf, hidden: Hide): Promise<ShownText> => {
  const { text, sizeBytes = 0 } = file
  if (text !== undefined) return shown(hidden(text), Math.max(0, sizeBytes - Buffer.byteLength(text)))
  const blob = blobOf(file)
  if (blob === undefined) return without('it was not uploaded')
  const { digest, instance } = blob
  if (!visit.may('read_cas', instance)) return without('you may not read the CAS of its instance')
  const cas = casOf(instance)
  if (cas === undefined) return without('its instance has no CAS here')
  visit.request.instanceName = instance
  const range = { offset: Math.max(0, digest.sizeBytes - MAX_SHOWN_BYTES), limit: MAX_SHOWN_BYTES }
  try {
    const bytes = await allBytes(await cas.get(digest, range, visit.request), digest, range, visit.request)
    return await shown(hidden(bytes.toString()), range.offset)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return without('it was not uploaded, or is no longer stored')
    throw error
  }
}

type Hide = (text: string) => string

const shown = async (text: string, cutBytes: number): Promise<ShownText> => ({
  text: await printedText(text),
  cutBytes,
  why: undefined,
})

const without = (why: string): ShownText => ({ text: { markup: '', lineCount: 0 }, cutBytes: 0, why })
