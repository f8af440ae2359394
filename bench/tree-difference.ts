/**
 * How long the comparison of two trees of 100,000 files takes that differ in one: `npx tsx bench/tree-difference.ts`. Prints the
 * median and the slowest of 20 runs, over a store in memory.
 */
import { compareTrees, type TreeSide } from '../src/misses/tree-difference.js'
import { Digest } from '../src/reapi/digest.js'
import { digestFunctions } from '../src/reapi/digest-function.js'
import { encodeDirectory } from '../src/reapi/directory.js'
import { internalCall } from '../src/rpc/call.js'

const FILES = 100_000
const RUNS = 20

const digestOf = (text: string): Digest => Digest.of(Buffer.from(text), digestFunctions.SHA256)

const treeOf = (directoryCount: number, changed: number): TreeSide => {
  const blobs = new Map<string, Buffer>()
  const add = (directory: Parameters<typeof encodeDirectory>[0]): Digest => {
    const bytes = encodeDirectory(directory)
    const digest = Digest.of(bytes, digestFunctions.SHA256)
    blobs.set(digest.key, bytes)
    return digest
  }
  const count = FILES / directoryCount
  const directories = Array.from({ length: directoryCount }, (_, at) => {
    const files = Array.from({ length: count }, (_, file) => {
      const number = at * count + file
      const digest = digestOf(number === changed ? 'changed' : String(number)).toMessage()
      return { name: `file_number_${number}.cc`, digest }
    })
    return { name: `directory_${at}`, digest: add({ files }).toMessage() }
  })
  const root = add({ directories })
  return { root, read: async ({ key }) => blobs.get(key) ?? Buffer.alloc(0) }
}

for (const directoryCount of [1, 100, 10_000]) {
  const [before, now] = [treeOf(directoryCount, -1), treeOf(directoryCount, FILES / 2)]
  const times: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const since = performance.now()
    const { changes } = await compareTrees(before, now, internalCall())
    times.push(performance.now() - since)
    if (changes.length !== 1) throw new Error(`${changes.length} changes, expected one`)
  }
  times.sort((a, b) => a - b)
  const [first, median, slowest] = [0, RUNS / 2, RUNS - 1].map((at) => times[at]?.toFixed(1))
  process.stdout.write(
    `${FILES} files in ${directoryCount} directories: ${median} ms, fastest ${first} ms, slowest ${slowest} ms\n`,
  )
}
