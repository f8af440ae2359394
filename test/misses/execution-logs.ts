import { codec, type Input } from '../../src/proto/codec.js'
import { zstdCompress } from '../../src/stream/compression/zstd.js'

export const entryCodec = codec('remexec.execlog.v1.Entry')

export type Entry = Input<'remexec.execlog.v1.Entry'>

/** A message with its length before it. */
export const delimited = (bytes: Buffer): Buffer => {
  const length: number[] = []
  for (let rest = bytes.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest < 128 ? rest : (rest % 128) + 128)
    if (rest < 128) return Buffer.concat([Buffer.from(length), bytes])
  }
}

/** A compact execution log. */
export const logOf = (entries: readonly Entry[]): Buffer =>
  zstdCompress(Buffer.concat(entries.map((entry) => delimited(entryCodec.encode(entry)))))
