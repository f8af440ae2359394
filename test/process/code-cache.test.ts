import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { keepCompiledCode } from '../../src/process/code-cache.js'

/** The folder in which code would be kept. */
const keptIn = (env: Record<string, string>): string | undefined => {
  const found: string[] = []
  const folder = keepCompiledCode(env, (path) => found.push(path))
  return found[0] === folder ? folder : `${found} is not ${folder}`
}

const programs = (t: Test): { readonly home: string; readonly folder: string } => {
  const home = t.testdir({})
  const folder = join(home, '.cache/remexec-program')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return { home, folder }
}

t.test('code is kept in the cache of this user, and nobody else may write there', async (t) => {
  const home = t.testdir({})
  t.equal(keptIn({ HOME: home }), join(home, '.cache/remexec-program/code'))
  t.equal(statSync(join(home, '.cache/remexec-program/code')).mode & 0o777, 0o700)
  t.equal(keptIn({ HOME: '/nowhere', XDG_CACHE_HOME: home }), join(home, 'remexec-program/code'))
})

t.test('code is not kept where others may write, by a link, or without a home', async (t) => {
  const { home, folder } = programs(t)
  chmodSync(folder, 0o777)
  t.equal(keptIn({ HOME: home }), undefined, 'others could put a folder there')
  const { home: other, folder: into } = programs(t)
  symlinkSync(t.testdirName, join(into, 'code'))
  t.equal(keptIn({ HOME: other }), undefined, 'a link')
  t.equal(keptIn({ HOME: '/dev/null' }), undefined, 'a home that is none')
  t.equal(keptIn({ XDG_CACHE_HOME: 'relative' }), undefined, 'a relative path')
  t.equal(keptIn({ HOME: home, NODE_COMPILE_CACHE: '' }), undefined, 'Node was told already')
  t.same(readdirSync(folder), ['code'])
})
