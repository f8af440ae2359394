import { isStatus } from '../../base/status-error.js'
import type { Store } from '../../blobs/store.js'
import type { FileRef } from '../../builds/detail/file-ref.js'
import { allBytes } from '../../content/read-blob.js'
import type { Digest } from '../../reapi/digest.js'
import { digestFunctions } from '../../reapi/digest-function.js'
import { blobDigest, parseReadName } from '../../reapi/resource-name.js'
import { addressOf } from '../actions/address.js'
import type { Visit } from '../page.js'
import { plainLine, printedLines, type TerminalText, terminalText } from '../parts/terminal.js'

/** The CAS of an instance; undefined if no server has one. */
export type CasOf = (instance: string) => Store | undefined

/** A blob of a CAS that a file of a build is. */
export interface NamedBlob {
  readonly instance: string
  readonly digest: Digest
}

/** The end of a file as a terminal shows it, or why it cannot be shown. It begins with the begin of a line. */
export interface ShownText {
  readonly text: TerminalText
  /** The same lines without colours. */
  readonly plain: readonly string[]
  /** Of its begin, which was not read. */
  readonly cutBytes: number
  /** Lines that were read and are not shown. */
  readonly linesAbove: number
  readonly why: string | undefined
}

/** Of a log on a page that shows several. */
export const LAST_LINES = 40

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
export const fileAddress = ({ instance, digest }: NamedBlob, name: string): string => {
  const last = name.split('/').at(-1) ?? ''
  // A browser takes dots as a way up.
  return addressOf(instance, 'file', digest, /^\.{0,2}$/.test(last) ? 'file' : last)
}

/** The last lines of a file, if the reader may read the CAS that has it. */
export const textOf = async (
  file: FileRef,
  visit: Visit,
  casOf: CasOf,
  hidden: Hide,
  maxLines = Number.POSITIVE_INFINITY,
): Promise<ShownText> => {
  const { text, sizeBytes = 0 } = file
  if (text !== undefined) return shown(hidden(text), Math.max(0, sizeBytes - Buffer.byteLength(text)), maxLines)
  const blob = blobOf(file)
  if (blob === undefined) return without('it was not uploaded')
  return blobText(blob, { visit, casOf, hidden, maxLines })
}

interface BlobTextParts {
  readonly visit: Visit
  readonly casOf: CasOf
  readonly hidden: Hide
  readonly maxLines: number
}

export const blobText = async (
  { digest, instance }: NamedBlob,
  { visit, casOf, hidden, maxLines }: BlobTextParts,
): Promise<ShownText> => {
  if (!visit.may('read_cas', instance)) return without('you may not read the CAS of its instance')
  const cas = casOf(instance)
  if (cas === undefined) return without('its instance has no CAS here')
  visit.request.instanceName = instance
  const range = { offset: Math.max(0, digest.sizeBytes - MAX_SHOWN_BYTES), limit: MAX_SHOWN_BYTES }
  try {
    const bytes = await allBytes(await cas.get(digest, range, visit.request), digest, range, visit.request)
    const from = range.offset === 0 ? 0 : bytes.indexOf('\n') + 1
    return await shown(hidden(bytes.toString('utf8', from)), range.offset + from, maxLines)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND')) return without('it was not uploaded, or is no longer stored')
    throw error
  }
}

export type Hide = (text: string) => string

/** What this server tells a client about a failure, which the client prints with the output of the action. */
const OWN_LINE = /^remexec: see \S+$/

const shown = async (text: string, cutBytes: number, maxLines: number): Promise<ShownText> => {
  const all = (await printedLines(text)).filter((line) => line.spans.length !== 1 || !OWN_LINE.test(plainLine(line)))
  const last = maxLines < all.length ? all.slice(-maxLines) : all
  const plain = last.map(plainLine)
  return { text: await terminalText(last), plain, cutBytes, linesAbove: all.length - last.length, why: undefined }
}

/** The markup of a line ends with a newline. */
export const withoutFirst = (shownText: ShownText, lines: number): ShownText => {
  const { text, plain } = shownText
  const markup = text.markup.split('\n').slice(lines).join('\n')
  return { ...shownText, text: { markup, lineCount: text.lineCount - lines }, plain: plain.slice(lines) }
}

const without = (why: string): ShownText => ({
  ...{ text: { markup: '', lineCount: 0 }, plain: [], cutBytes: 0, linesAbove: 0 },
  why,
})
