import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Digest } from '../../../reapi/digest.js'

const FORMAT = 'remexec keys 1'
const BATCH = 10_000

/** Writes keys to a file, one per line after the name of the bucket. It streams, so that no side holds all keys. */
export const writeKeys = async (path: string, bucket: string, digests: Iterable<Digest>): Promise<void> => {
  const temporary = `${path}.new`
  await mkdir(dirname(path), { recursive: true })
  const file = await open(temporary, 'w')
  try {
    let lines = [headOf(bucket)]
    for (const digest of digests) {
      lines.push(digest.key)
      if (lines.length < BATCH) continue
      await file.write(`${lines.join('\n')}\n`)
      lines = []
    }
    await file.write(`${lines.join('\n')}\n${END}\n`)
  } catch (error) {
    await file.close()
    await rm(temporary, { force: true })
    throw error
  }
  await file.close()
  await rename(temporary, path)
}

/** Reads the keys of a file in batches. Fails if the file is truncated or belongs to another bucket. */
export async function* readKeys(path: string, bucket: string): AsyncGenerator<readonly Digest[]> {
  let digests: Digest[] = []
  let line = 0
  let isWhole = false
  for await (const text of createInterface({ input: createReadStream(path) })) {
    if (line++ === 0 && text !== headOf(bucket)) throw new Error('it is not a list of the keys of this bucket')
    isWhole = text === END
    const digest = Digest.ofKey(text)
    if (digest !== undefined) digests.push(digest)
    if (digests.length < BATCH) continue
    yield digests
    digests = []
  }
  if (!isWhole) throw new Error('it was cut short')
  yield digests
}

const END = 'end'
const headOf = (bucket: string): string => `${FORMAT} ${bucket}`
