/** Where data of a user goes by default. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { xdgCacheFolder } from '../../src/command/cache-folder.js'
import { program, start } from './program.js'

t.test('remexec start keeps its data in XDG_CACHE_HOME, if that is set', async (t) => {
  const home = t.testdir()
  const server = start(t, [process.execPath, program, 'start', '--port', '0'], {
    env: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'mine') },
  })
  await server.hears(new RegExp(`data +${join(home, 'mine/remexec')}: CAS at most`))
  t.ok(existsSync(join(home, 'mine/remexec/cas/content')))
  t.notOk(existsSync(join(home, '.cache')))
})

t.test('a folder that is not absolute is ignored, as the specification wants', async (t) => {
  t.equal(xdgCacheFolder({ XDG_CACHE_HOME: 'mine' }), undefined)
  t.equal(xdgCacheFolder({ XDG_CACHE_HOME: '' }), undefined)
  t.equal(xdgCacheFolder({}), undefined)
  t.equal(xdgCacheFolder({ XDG_CACHE_HOME: '/mine' }), '/mine/remexec')
})
