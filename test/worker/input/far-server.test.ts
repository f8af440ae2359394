import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Digest } from '../../../src/reapi/digest.js'
import { manyFiles, setUpFar } from './far-server.js'

const DEPTH = 32
const MOST_ROUND_TRIPS = 8

t.test(
  'a tree of 32 levels on a server 25 ms away takes at most 8 round trips, and so does a changed one',
  async (t) => {
    const far = await setUpFar(t)
    const deep = (content: string): Digest => {
      const file = (name: string, text: string) => ({ name, digest: far.keep(Buffer.from(text)).toMessage() })
      let digest = far.directory({ files: [file('last', content)] })
      for (let level = DEPTH - 1; level > 0; level--) {
        const directories = [{ name: 'd', digest: digest.toMessage() }]
        digest = far.directory({ files: [file('f', `level ${level}`)], directories })
      }
      return digest
    }
    for (const content of ['first', 'second']) {
      const root = deep(content)
      await far.upload()
      const { tree, at, roundTrips } = await far.make(root)
      t.equal(tree.directories.length, DEPTH - 1)
      t.equal(readFileSync(join(at, 'd/'.repeat(DEPTH - 1), 'last'), 'utf8'), content)
      t.ok(roundTrips <= MOST_ROUND_TRIPS, `${roundTrips} round trips`)
    }
  },
)

t.test('small files come from a far server in batches', async (t) => {
  const far = await setUpFar(t)
  const root = manyFiles(far, 1_000)
  await far.upload()
  const { at, roundTrips } = await far.make(root)
  t.equal(readdirSync(at).length, 10)
  t.equal(readFileSync(join(at, 'd7/f93'), 'utf8').slice(0, 5), '7/93 ')
  t.ok(roundTrips <= 16, `${roundTrips} round trips for 1,000 files`)
})
