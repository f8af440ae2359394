/** The go command with `remexec go-cache` as GOCACHEPROG, against a server of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, run } from './process.js'
import { root, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/go-cache, src/command/go-cache.ts, src/client

t.setTimeout(900_000)

const cli = join(root, 'dist', 'cli.js')
const version = await run('go', ['version'], root, cleanEnv('/tmp')).then(
  ({ output }) => /go1\.(\d+)/.exec(output)?.[1],
  () => undefined,
)
const skip = Number(version ?? 0) < 24 && 'needs go 1.24 or later'

const workspace = async (t: Test) => {
  const folder = await scratchFolder(t)
  const work = join(folder, 'work')
  await mkdir(work)
  await writeFile(join(work, 'go.mod'), 'module hello\n\ngo 1.24\n')
  await writeFile(join(work, 'main.go'), 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n')
  const build = (name: string, options: string) =>
    run('go', ['build', '-o', join(folder, 'hello'), '.'], work, {
      ...cleanEnv(join(folder, 'home')),
      GOCACHE: join(folder, name, 'unused'),
      GOTOOLCHAIN: 'local',
      GOCACHEPROG: `${process.execPath} ${cli} go-cache --dir ${join(folder, name)} ${options}`,
    })
  return { folder, build }
}

t.test('another machine takes everything from the server', { skip }, async (t) => {
  const { folder, build } = await workspace(t)
  const server = await startServer(t, join(folder, 'data'))
  const cold = await build('cold', `--server ${server.uri}`)
  t.equal(cold.code, 0) || t.comment(cold.output, server.log())
  const made = await readdir(join(folder, 'cold', 'outputs'))
  t.ok(made.length > 20, `${made.length} outputs`)
  const warm = await build('warm', `--server ${server.uri}`)
  t.equal(warm.code, 0) || t.comment(warm.output)
  t.equal(warm.output, '')
  const taken = await readdir(join(folder, 'warm', 'outputs'))
  // go itself makes one anew in each build.
  const anew = taken.filter((name) => !made.includes(name))
  t.ok(anew.length <= 1, `${anew.length} outputs are not of the server`)
  t.match((await run(join(folder, 'hello'), [], folder, cleanEnv(folder))).output, /hello/)
  await rm(join(folder, 'cold'), { recursive: true })
  const reading = await build('cold', `--server ${server.uri} --read-only`)
  t.equal(reading.code, 0) || t.comment(reading.output)
})

t.test('a build succeeds without the server, and says once that it is away', { skip }, async (t) => {
  const { build } = await workspace(t)
  const first = await build('local', '--server grpc://127.0.0.1:9')
  t.equal(first.code, 0) || t.comment(first.output)
  t.equal(first.output.match(/works without grpc:\/\/127\.0\.0\.1:9/g)?.length, 1, first.output)
  t.equal((await build('local', '--server grpc://127.0.0.1:9')).code, 0, 'from the folder')
})

t.test('it answers the protocol: unknown commands, an unwritable folder, the end of the input', async (t) => {
  const folder = await scratchFolder(t)
  const start = (dir: string) =>
    spawn(process.execPath, [cli, 'go-cache', '--dir', dir, '--server', 'grpc://127.0.0.1:9'], { stdio: 'pipe' })
  const child = start(join(folder, 'a'))
  child.stdin.end('{"ID":7,"Command":"dance"}\n\n{"ID":8,"Command":"close"}\n')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  const [hello, unknown, closed] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(hello, { ID: 0, KnownCommands: ['get', 'put', 'close'] })
  t.match(unknown, { ID: 7, Err: /no command "dance"/ })
  t.match(closed, { ID: 8 })
  await writeFile(join(folder, 'file'), '')
  const refused = start(join(folder, 'file', 'below'))
  let errors = ''
  refused.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [exit] = await once(refused, 'close')
  t.equal(exit, 1)
  t.match(errors, /the folder of go-cache: cannot make the directory/)
})
