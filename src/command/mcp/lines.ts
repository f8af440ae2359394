import { StringDecoder } from 'node:string_decoder'

/** A longer line is no question: it is told as one that cannot be read. */
const MAX_LINE = 1024 * 1024

/** The lines of a stream; `undefined` in place of one that is too long, which is not held. */
export class LinesOfInput {
  readonly #input: AsyncIterable<Buffer>

  constructor(input: AsyncIterable<Buffer>) {
    this.#input = input
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | undefined, void, undefined> {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    let isTooLong = false
    for await (const chunk of this.#input) {
      const parts = decoder.write(chunk).split('\n')
      for (const [at, part] of parts.entries()) {
        const isLast = at === parts.length - 1
        if (!isTooLong) rest += part
        if (rest.length > MAX_LINE) {
          isTooLong = true
          rest = ''
        }
        if (isLast) continue
        yield isTooLong ? undefined : rest
        rest = ''
        isTooLong = false
      }
    }
    if (rest !== '' || isTooLong) yield isTooLong ? undefined : rest
  }
}
