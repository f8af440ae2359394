import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import { serve } from '../cli/program.js'
import { cleanEnv, run } from './process.js'
import { root, scratchFolder } from './scratch.js'

// For changes in: src/security/identity, src/security/gate.ts

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_7']
const skip = program === undefined && 'needs Bazel 7, the first with credential helpers, named in REMEXEC_TEST_BAZEL_7'

t.test('Bazel asks its credential helper for the token that a build needs', { skip }, async (t) => {
  const folder = await scratchFolder(t)
  const cwd = join(folder, 'workspace')
  await mkdir(cwd)
  for (const part of ['WORKSPACE', 'plain', 'stubs']) {
    await cp(join(root, 'fixtures/workspace', part), join(cwd, part), { recursive: true })
  }
  const config = JSON5.parse(await readFile(join(root, 'deploy/recipes/machine/remexec.json5'), 'utf8'))
  const sha256 = createHash('sha256').update('given-by-the-helper').digest('hex')
  config.security = { identity: { tokens: [{ name: 'ann', sha256 }] } }
  const configFile = join(folder, 'config.json')
  await writeFile(configFile, JSON.stringify(config), { mode: 0o600 })
  const server = serve(t, configFile, join(folder, 'data'))
  const [, port] = await server.hears(/serving grpc:\/\/127\.0\.0\.1:(\d+)"? .*public/)
  await server.hears(/connected to the scheduler/)

  /** Answers every question with this token, as https://github.com/EngFlow/credential-helper-spec has it. */
  const helper = async (name: string, token: string): Promise<string> => {
    const path = join(folder, name)
    const answer = JSON.stringify({ headers: { Authorization: [`Bearer ${token}`] } })
    await writeFile(path, `#!/bin/sh\ncat >${path}.asked\necho '${answer}'\n`, { mode: 0o755 })
    return path
  }
  const bazel = async (...command: readonly string[]) => {
    const startup = ['--nohome_rc', `--output_user_root=${join(folder, 'bazel')}`, '--max_idle_secs=60']
    return run(program ?? '', [...startup, ...command], cwd, cleanEnv(folder))
  }
  t.teardown(() => bazel('shutdown'))
  const build = (helper: string) =>
    bazel('build', `--remote_executor=grpc://127.0.0.1:${port}`, `--credential_helper=${helper}`, '//plain/...')

  const wrong = await build(await helper('wrong', 'guessed'))
  t.not(wrong.code, 0)
  t.match(wrong.output, /UNAUTHENTICATED: the bearer token is not known here/)
  const right = await helper('right', 'given-by-the-helper')
  const built = await build(right)
  t.equal(built.code, 0) || t.comment(built.output, server.said())
  t.match(built.output, /[1-9]\d* remote\./)
  t.match(JSON.parse(await readFile(`${right}.asked`, 'utf8')), { uri: /127\.0\.0\.1/ }, 'what it was asked')
})
