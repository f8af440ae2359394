import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { rootAbove } from '../../src/base/package-root.js'

t.test('a program without a package.json above it ends with a message instead of looking for ever', async (t) => {
  t.throws(() => rootAbove(new URL('file:///proc/self/')), /found no package.json in \/proc\/self\/ or above it/)
  const folder = t.testdir()
  mkdirSync(join(folder, 'a', 'b'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  t.equal(rootAbove(pathToFileURL(`${join(folder, 'a', 'b')}/`)).href, pathToFileURL(`${folder}/`).href)
})
