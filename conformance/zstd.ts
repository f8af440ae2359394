/** zstd for the judge, by two implementations of which neither is the server's. */
import { compress as encode, init } from '@bokuweb/zstd-wasm'
import { decompress as decode } from 'fzstd'

await init()

/** One frame. */
export const compress = (bytes: Uint8Array, level = 3): Buffer => Buffer.from(encode(bytes, level))

/** The content of all frames; throws when the bytes are not valid or end inside a frame. */
export const decompress = (bytes: Uint8Array): Buffer => Buffer.from(decode(bytes))
