import { existsSync } from 'node:fs'
import t from 'tap'
import { folderOf } from './folder.js'

t.test('the folder of a test is there until its teardowns have ended', async (t) => {
  let wasThere = false
  let path = ''
  await t.test('a test with a folder', async (t) => {
    path = folderOf(t)
    t.teardown(() => {
      wasThere = existsSync(path)
    })
  })
  t.ok(wasThere)
  t.notOk(existsSync(path))
})
