import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../process.js'
import { root, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { findClient, named, recipeOf, runLines } from './recipe.js'

// For changes in: docs/clients.md, deploy/recipes/machine, fixtures/workspace

t.setTimeout(900_000)

/** Bazel changed its ways more than others: the one that Debian stable has, and a later one. */
const releases = { 'Bazel 4.2': 'REMEXEC_TEST_BAZEL_4', 'Bazel 7': 'REMEXEC_TEST_BAZEL_7' } as const

for (const [release, variable] of Object.entries(releases)) {
  const program =
    variable in process.env || variable === 'REMEXEC_TEST_BAZEL_4' ? await findClient(variable, 'bazel') : undefined
  const skip = program === undefined && `needs ${release}, named in ${variable}`
  t.test(`the recipe for ${release} runs remotely, then takes everything from the cache`, { skip }, async (t) => {
    const folder = await scratchFolder(t)
    const cwd = join(folder, 'workspace')
    await mkdir(cwd)
    for (const part of ['WORKSPACE', 'plain', 'stubs']) {
      await cp(join(root, 'fixtures/workspace', part), join(cwd, part), { recursive: true })
    }
    const server = await startServer(t, join(folder, 'data'))
    // An abandoned Bazel server ends itself soon.
    const startup = ['--nohome_rc', `--output_user_root=${join(folder, 'bazel')}`, '--max_idle_secs=60']
    const bin = await named(folder, 'bazel', program ?? '', startup)
    t.teardown(() => run(join(bin, 'bazel'), ['shutdown'], cwd, { HOME: folder, PATH: process.env['PATH'] }))

    const { executor = '', cache = '' } =
      /(?<executor>.*--remote_executor=.*)\n(?<cache>.*--remote_cache=.*)/.exec(await recipeOf('Bazel', 'sh', server))
        ?.groups ?? {}
    for (const [line, expected] of [
      [executor, /\b[1-9]\d* remote\./],
      [executor, /\b[1-9]\d* remote cache hit/],
      [cache, /\b[1-9]\d* remote cache hit/],
    ] as const) {
      const { code, output } = await runLines(`${line}\nbazel clean`, { cwd, home: folder, bin })
      t.equal(code, 0) || t.comment(output, server.log())
      t.match(output, expected, line)
      t.match(output, /1 test passes/)
    }
  })
}
