import { chmodSync, linkSync, lstatSync, utimesSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { changedInputs } from '../../../src/worker/input/changed.js'
import type { InputLink } from '../../../src/worker/input/root.js'
import { blobOf } from '../../service/harness.js'
import { call } from '../../store/blobs.js'
import { memoryStore } from '../../store/build.js'

const LONG_AGO_S = 1_700_000_000

/** An executable input: a hard link to a file of a store, both last written long ago. */
const linked = (t: Test, content: string): { root: string; link: InputLink } => {
  const root = t.testdir()
  writeFileSync(`${root}/stored`, content)
  linkSync(`${root}/stored`, `${root}/input`)
  utimesSync(`${root}/input`, LONG_AGO_S, LONG_AGO_S)
  const { ino: inode, mtimeMs } = lstatSync(`${root}/input`)
  const entry = { digest: blobOf(content).digest, isExecutable: true }
  return { root, link: { path: 'input', entry, inode, mtimeMs } as unknown as InputLink }
}

const changedIn = async (root: string, link: InputLink): Promise<string[]> =>
  (await changedInputs([link], root, Date.now() - 60_000, await memoryStore(), call)).map(({ key }) => key)

t.test('an input that no command touched has not changed', async (t) => {
  const { root, link } = linked(t, 'as it was')
  t.same(await changedIn(root, link), [])
})

t.test('an input of another length has changed, even if the command restored its time', async (t) => {
  const { root, link } = linked(t, 'as it was')
  chmodSync(`${root}/input`, 0o644)
  writeFileSync(`${root}/input`, 'a longer text')
  utimesSync(`${root}/input`, LONG_AGO_S, LONG_AGO_S)
  t.same(await changedIn(root, link), [link.entry.digest.key])
})
