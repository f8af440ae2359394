import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

// Both for a test of the file and for one inside another.
const nested = (t: Test, name: string, isThere: Record<string, boolean>): Promise<unknown> =>
  t.test(name, async (t) => {
    const folder = t.testdir({ file: '' })
    t.teardown(async () => {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      isThere[name] = existsSync(join(folder, 'file'))
    })
    if (name === 'outer') await nested(t, 'inner', isThere)
  })

t.test('the folder of a test is there until its teardowns have ended', async (t) => {
  const isThere: Record<string, boolean> = {}
  const folder = `${t.testdirName}-outer`
  await nested(t, 'outer', isThere)
  t.same(isThere, { inner: true, outer: true })
  t.notOk(existsSync(folder))
})

const ofFile = t.testdir({ file: '' })
t.teardown(() => {
  if (!existsSync(join(ofFile, 'file'))) throw new Error('the folder of a file went before its teardowns ended')
})
