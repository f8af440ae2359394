import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { stackOf } from '../../src/base/stack.js'

const TEXT = `import 'node:fs'
// src/store/first.ts
const first = 1
// src/store/second.tsx
export const thrown = new Error('broken')
`

const thrownBy = async (folder: string): Promise<Error> => {
  mkdirSync(`${folder}/dist/parts`, { recursive: true })
  writeFileSync(`${folder}/dist/parts/chunk-7.js`, TEXT)
  return (await import(pathToFileURL(`${folder}/dist/parts/chunk-7.js`).href)).thrown
}

t.test('a frame in a part of dist/ names the source', async (t) => {
  const error = await thrownBy(t.testdir())
  t.match(stackOf(error), /^Error: broken\n +at src\/store\/second\.tsx, file:\S+\/dist\/parts\/chunk-7\.js:5:23\n/)
})

t.test('a frame in a part that an update has removed stays as it is', async (t) => {
  const folder = t.testdir()
  const error = await thrownBy(folder)
  rmSync(`${folder}/dist`, { recursive: true })
  t.match(stackOf(error), /\n +at file:\S+\/dist\/parts\/chunk-7\.js:5:23\n/)
})

t.test('an error of this test has the frames that Node gave it', async (t) => {
  const error = new Error('plain')
  t.equal(stackOf(error), error.stack)
})
