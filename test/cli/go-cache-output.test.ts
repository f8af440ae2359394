import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { DEFAULT, program, root, serve } from './program.js'

t.test('a go-cache whose answers nobody reads ends with a sentence, not with a report of a crash', async (t) => {
  const data = t.testdir()
  const server = serve(t, DEFAULT, data)
  const [, address = ''] = await server.hears(/remexec serving grpc:\/\/([^\s]+)/)
  const args = [program, 'go-cache', '--dir', `${data}/go`, '--server', `grpc://${address}`]
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], HOME: data },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdin.on('error', () => {})
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await once(child.stdout, 'close')
  // The input stays open, so that the command ends by its answers alone.
  const actionId = Buffer.alloc(32, 7).toString('base64')
  for (let id = 1; id <= 8; id++)
    child.stdin.write(`${JSON.stringify({ ID: id, Command: 'get', ActionID: actionId })}\n`)
  const [code] = await once(child, 'close')
  t.equal(code, 1)
  t.match(said, /remexec: go-cache failed: the go command does not read the answers: .*EPIPE/)
  t.notMatch(said, /ended by|at .*\.js/)
})

t.test('a go-cache whose folder cannot be made says so before it answers anything', async (t) => {
  const data = t.testdir({ file: '' })
  const args = [program, 'go-cache', '--dir', `${data}/file`, '--server', 'grpc://127.0.0.1:1']
  const request = `${JSON.stringify({ ID: 1, Command: 'close' })}\n`
  const env = { PATH: process.env['PATH'], HOME: data }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    input: request,
    env,
  })
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, /^remexec: go-cache failed: .*the folder of go-cache.*\n$/)
})
