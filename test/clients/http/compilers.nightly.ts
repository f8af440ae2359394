import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, run } from '../process.js'
import { serveTool } from './served.js'

// For changes in: src/http, src/server/http, src/service/http-cache, test/clients/http

t.setTimeout(900_000)

const SOURCE = 'int answer(void) { return 42; }\n'

const compileIn = async (folder: string): Promise<string> => {
  await writeFile(join(folder, 'answer.c'), SOURCE)
  return folder
}

/** `ccache` in its two alphabets: keys in hex since 4.13, and in base 32 before. `@` begins an attribute since 4.13, `|` before. */
const ccaches = [
  { variable: 'REMEXEC_TEST_CCACHE', attribute: ' @' },
  { variable: 'REMEXEC_TEST_CCACHE_4_7', attribute: '|' },
]

for (const { variable, attribute } of ccaches) {
  const program = process.env[variable]
  const skip = program === undefined && `needs ccache: its path in ${variable}`
  t.test(`${variable}: what one machine compiled is a remote hit on another, in each layout`, { skip }, async (t) => {
    const { folder, url, results, server } = await serveTool(t, 'ccache')
    const work = await compileIn(folder)
    const env = { ...cleanEnv(folder), CCACHE_DIR: join(folder, 'local') }
    const compile = (storage: string) =>
      run(program as string, ['gcc', '-c', 'answer.c', '-o', 'answer.o'], work, {
        ...env,
        CCACHE_REMOTE_STORAGE: storage,
      })
    const statistic = async (name: string): Promise<number> => {
      const { output } = await run(program as string, ['--print-stats'], work, env)
      return Number(new RegExp(`^${name}\\t(\\d+)`, 'm').exec(output)?.[1] ?? Number.NaN)
    }
    const forget = () => rm(join(folder, 'local'), { recursive: true })
    for (const [index, layout] of ['subdirs', 'flat', 'bazel'].entries()) {
      const storage = `${url}${attribute}layout=${layout}`
      t.equal((await compile(storage)).code, 0)
      if (index === 0) {
        t.equal(await statistic('cache_miss'), 1)
        t.match(await results(), { hit: 0, miss: 2, stored: 2 }) || t.comment(server.log())
        await forget()
        t.equal((await compile(storage)).code, 0)
      }
      t.ok((await statistic('remote_storage_hit')) > 0, `${layout}: ccache's word for a remote hit`)
      t.equal(await statistic('cache_miss'), 0)
      t.match(await results(), { hit: 2, miss: 0 }, 'all layouts share their entries')
      await forget()
    }
  })
}

const sccache = process.env['REMEXEC_TEST_SCCACHE']
const skip = sccache === undefined && 'needs sccache: its path in REMEXEC_TEST_SCCACHE'

/** sccache with a server of its own. */
const sccacheIn = (t: Test, folder: string, endpoint: string) => {
  const env = {
    ...cleanEnv(folder),
    SCCACHE_SERVER_UDS: join(folder, 'sccache.sock'),
    SCCACHE_DIR: join(folder, 'local'),
    SCCACHE_WEBDAV_ENDPOINT: endpoint,
    SCCACHE_WEBDAV_KEY_PREFIX: 'team/app',
    SCCACHE_IDLE_TIMEOUT: '60',
  }
  const ask = (...args: string[]) => run(sccache as string, args, folder, env)
  t.teardown(() => ask('--stop-server'))
  return ask
}

t.test('sccache: what was compiled once is a hit after a restart of its server', { skip }, async (t) => {
  const { folder, url, results, server } = await serveTool(t, 'webdav')
  const work = await compileIn(folder)
  const ask = sccacheIn(t, work, url)
  const counts = async (): Promise<{ hits: number; misses: number; writeErrors: number }> => {
    const { output } = await ask('--show-stats', '--stats-format', 'json')
    const { stats } = JSON.parse(output.slice(output.indexOf('{')))
    const sum = (of: { counts: Record<string, number> }): number => Object.values(of.counts).reduce((a, b) => a + b, 0)
    return { hits: sum(stats.cache_hits), misses: sum(stats.cache_misses), writeErrors: stats.cache_write_errors }
  }
  const compiled = await ask('gcc', '-c', 'answer.c', '-o', 'answer.o')
  t.equal(compiled.code, 0) || t.comment(compiled.output, server.log())
  t.match(await counts(), { hits: 0, misses: 1 })
  await ask('--stop-server')
  t.ok((await results()).stored > 0) || t.comment(server.log())
  t.equal((await ask('gcc', '-c', 'answer.c', '-o', 'answer.o')).code, 0)
  t.match(await counts(), { hits: 1, misses: 0, writeErrors: 0 })
  t.ok((await results()).hit > 0)
})
