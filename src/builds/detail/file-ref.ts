import type { File } from '../../proto/generated/build_event_stream.js'

/** A file that events name. */
export interface FileRef {
  readonly name: string
  /** `bytestream://HOST/INSTANCE/blobs/HASH/SIZE`, or one of the client's machine. */
  readonly uri: string | undefined
  /** Of files that came inside the event. */
  readonly text: string | undefined
  readonly sizeBytes: number | undefined
}

const MAX_NAME = 500
const MAX_URI = 1000
const MAX_TEXT_BYTES = 64 * 1024

export const fileRef = ({ name, uri, contents, file, length }: File): FileRef => ({
  name: name.slice(0, MAX_NAME),
  uri: file === 'uri' && uri.length <= MAX_URI ? uri : undefined,
  text: file === 'contents' ? contents.subarray(0, MAX_TEXT_BYTES).toString() : undefined,
  sizeBytes: file === 'contents' ? contents.length : length > 0 ? length : undefined,
})

export const optionalFile = (file: File | null): FileRef | undefined => (file === null ? undefined : fileRef(file))
