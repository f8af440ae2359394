import { readFileSync } from 'node:fs'

/** Where the sources of a part begin, by line. */
const startsOf = (part: URL): readonly (readonly [line: number, source: string])[] =>
  readFileSync(part, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const source = /^\/\/ (src\/\S+)$/.exec(text)?.[1]
      return source === undefined ? [] : [[index + 1, source] as const]
    })

const known = new Map<string, ReturnType<typeof startsOf>>()

const sourceAt = (part: string, line: number): string | undefined => {
  if (!known.has(part)) {
    try {
      known.set(part, startsOf(new URL(part)))
    } catch {
      // An update has replaced the files of this process. The stack still names the part.
      known.set(part, [])
    }
  }
  return known.get(part)?.findLast(([start]) => start <= line)?.[1]
}

/** The stack of an error. A frame in a part of dist/ also names the source, because each part holds many. */
export const stackOf = ({ stack, message }: Error): string =>
  (stack ?? message).replace(/(file:\S+\/dist\/\S+\.js):(\d+):\d+/g, (place, part, line) => {
    const source = sourceAt(part, Number(line))
    return source === undefined ? place : `${source}, ${place}`
  })
