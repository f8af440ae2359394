import { StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import { Fields, writeFieldHead } from '../proto/fields.js'
import type { Record as RecordMessage } from '../proto/generated/remexec.record.v1.js'
import type { ReferencedBlobs } from '../reapi/action-result.js'
import { Digest, type DigestMessage } from '../reapi/digest.js'
import { DigestBatch } from '../reapi/digest-batch.js'
import { digestFunctions } from '../reapi/digest-function.js'

const recordCodec = codec('remexec.record.v1.Record')

/** What lies under a key of the server's own (`Digest.ofOwn`). */
export interface OwnRecord {
  /** Content without which there is no record, all of one function. */
  readonly blobs?: readonly Digest[]
  readonly rootDirectories?: readonly Digest[]
  readonly trees?: readonly Digest[]
  readonly content?: Buffer
  readonly details?: Buffer
}

/** No message begins with this byte: field 0 does not exist. Then a name, the kind of the key, and the version of the form. */
const MAGIC = [0x07, 0x72, 0x6d, 0x78] as const
const VERSION = 1
const MAGIC_BYTES = MAGIC.length + 2
const CONTENT = 4
/** Its tag and length. */
const MAX_HEAD_BYTES = 6

/** The bytes to store under `key`. Most records are a short content only: those are written without the codec, which takes 4 us. */
export const encodeRecord = (key: Digest, record: OwnRecord): Buffer => {
  const { blobs = [], rootDirectories = [], trees = [], content = NOTHING, details = NOTHING } = record
  const referenced = [...blobs, ...rootDirectories, ...trees]
  if (referenced.length + details.length === 0) return encodeContent(key, content)
  const digestFunction = referenced[0]?.function.value ?? 0
  const message = recordCodec.encode({
    blobs: blobs.map((digest) => digest.toMessage()),
    rootDirectories: rootDirectories.map((digest) => digest.toMessage()),
    trees: trees.map((digest) => digest.toMessage()),
    ...{ digestFunction, content, details },
  })
  return Buffer.concat([magicOf(key), message])
}

/** Throws INVALID_ARGUMENT if the bytes are no record of the kind of `key`, such as a result. */
export const decodeRecord = (key: Digest, bytes: Buffer): Required<OwnRecord> => {
  const encoded = unwrapped(key, bytes)
  const only = onlyContent(encoded)
  if (only !== undefined) return { ...NO_RECORD, content: only }
  const message = recordCodec.decode(encoded)
  const { content, details } = message
  return { ...referencesOf(message), content, details }
}

/** The blobs that a record refers to; throws like `decodeRecord`. */
export const referencedByRecord = (key: Digest, bytes: Buffer): ReferencedBlobs => {
  const encoded = unwrapped(key, bytes)
  if (encoded.length === 0 || onlyContent(encoded) !== undefined) return NO_REFERENCES
  const { blobs, trees, rootDirectories } = referencesOf(recordCodec.decode(encoded))
  return { blobs: DigestBatch.of(blobs), trees, rootDirectories }
}

const magicOf = ({ function: { value } }: Digest): Buffer => Buffer.from([...MAGIC, value, VERSION])

const encodeContent = (key: Digest, content: Buffer): Buffer => {
  const magic = magicOf(key)
  if (content.length === 0) return magic
  const encoded = Buffer.allocUnsafe(MAGIC_BYTES + MAX_HEAD_BYTES + content.length)
  const headEnd = writeFieldHead(encoded, magic.copy(encoded), CONTENT, content.length)
  return encoded.subarray(0, headEnd + content.copy(encoded, headEnd))
}

const unwrapped = (key: Digest, bytes: Buffer): Buffer => {
  const isRight =
    MAGIC.every((byte, at) => bytes[at] === byte) &&
    bytes[MAGIC.length] === key.function.value &&
    bytes[MAGIC.length + 1] === VERSION
  if (isRight) return bytes.subarray(MAGIC_BYTES)
  throw new StatusError('INVALID_ARGUMENT', `the bytes under ${key.key} are no record of this kind`)
}

/** The content of a record that is nothing else. */
const onlyContent = (encoded: Buffer): Buffer | undefined => {
  const fields = new Fields(encoded, recordCodec.typeName)
  if (!fields.next() || fields.number !== CONTENT || fields.start !== 0 || fields.to !== encoded.length)
    return undefined
  return encoded.subarray(fields.from, fields.to)
}

const referencesOf = ({ blobs, rootDirectories, trees, digestFunction: value }: RecordMessage) => {
  // Not a kind of key: content has the digests of clients.
  const digestFunction = Object.values(digestFunctions).find((one) => one.value === value) ?? digestFunctions.SHA256
  const parsed = (messages: readonly DigestMessage[]): Digest[] => Digest.parseAll(messages, digestFunction, 'a record')
  return { blobs: parsed(blobs), rootDirectories: parsed(rootDirectories), trees: parsed(trees) }
}

const NOTHING = Buffer.alloc(0)
const NO_RECORD: Required<OwnRecord> = { blobs: [], rootDirectories: [], trees: [], content: NOTHING, details: NOTHING }
const NO_REFERENCES: ReferencedBlobs = { blobs: DigestBatch.of([]), trees: [], rootDirectories: [] }
