import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ended, instead } from '../../../conformance/mutate/mutation.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import type { ReportDocument } from '../../../conformance/report/document.js'
import { getTree, read } from '../../../conformance/wire/methods.js'
import { conformance } from '../program.js'
import { startServer } from '../server.js'

// For changes in: conformance

// A server that dies of one row: what stands before a correct one breaks every connection, and refuses new ones until it is
// started again, when it is asked for what that row asks.

t.setTimeout(180_000)
const upstream = await startServer(t)

const DEADLY = /\/UpdateActionResult$/
const ROWS = 'FMB,BUB-01,BUB-02,BUB-03,BSR-01,BSR-02,BSR-03,BSR-06,ACG-01,ACG-06,ACU-11'

/** Dies when UpdateActionResult is asked with an empty result; gives its port, and how to start it again. */
const mortal = async (t: Test, port = 0) => {
  const sockets = new Set<Socket>()
  let deaths = 0
  const server = createServer()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    session.on('error', () => {})
    const behind = connect(upstream.replace('grpc:', 'http:'))
    behind.on('error', () => {})
    session.once('close', () => behind.destroy())
    session.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      if (DEADLY.test(String(headers[':path'])) && headers[ROW] !== undefined && isOf(headers[ROW], 'ACU-11')) {
        deaths++
        server.close()
        for (const each of sockets) each.resetAndDestroy()
        return
      }
      const call = behind.request({ ...headers })
      call.on('error', () => {})
      let trailers = {}
      call.once('response', (answer, flags) => {
        const endStream = (flags & 1) !== 0
        if (stream.destroyed) return
        stream.respond({ ...answer }, { endStream, waitForTrailers: !endStream })
        if (!endStream) call.pipe(stream)
      })
      call.once('trailers', (came) => {
        trailers = { ...came }
      })
      stream.once('wantTrailers', () => stream.sendTrailers(trailers))
      stream.pipe(call)
    })
  })
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve))
  await listen(port)
  const own = (server.address() as AddressInfo).port
  t.teardown(() => {
    server.close()
    for (const each of sockets) each.resetAndDestroy()
  })
  return {
    address: `grpc://127.0.0.1:${own}`,
    deaths: () => deaths,
    revive: () => (server.listening ? undefined : listen(own)),
  }
}

const ROW = 'build.bazel.remote.execution.v2.requestmetadata-bin'
const isOf = (header: unknown, row: string): boolean => Buffer.from(String(header), 'base64').includes(row)

t.test('the row under which the server dies is named, its neighbours are judged, and the run goes on', async (t) => {
  const server = await mortal(t)
  const folder = t.testdir({})
  const [wish, command] = [join(folder, 'wish'), join(folder, 'restart.sh')]
  writeFileSync(command, `#!/bin/sh\necho again >> ${wish}\n`)
  chmodSync(command, 0o755)
  const reviving = setInterval(() => {
    try {
      if (readFileSync(wish, 'utf8') !== '') void server.revive()
    } catch {
      // Not requested yet.
    }
  }, 50)
  t.teardown(() => clearInterval(reviving))
  const expectations = join(folder, 'known.json5')
  const args = ['--quiet', '--format', 'json', '--only', ROWS, '--restart-command', command]
  const { code, stdout } = await conformance(server.address, ...args, '--write-expectations', expectations)
  t.equal(code, 1)
  const { results, crashes = [], summary } = JSON.parse(stdout) as ReportDocument
  t.equal(server.deaths(), 2, 'it dies among others, and alone')
  t.match(crashes, [{ row: 'ACU-11', cameBack: true }])
  t.ok(
    crashes[0]?.lastCalls.some(({ method }) => method.endsWith('/UpdateActionResult')),
    'with its last calls',
  )
  t.match(results.find(({ id }) => id === 'ACU-11')?.verdict, 'crash')
  t.equal(summary.pass + summary.skip, results.length - 1, `no bystander is blamed: ${JSON.stringify(summary)}`)
  t.match(readFileSync(expectations, 'utf8'), /^\[\n {2}\{id:'ACU-11',reason:'[^\n]+'\},\n\]\n$/)
  writeFileSync(wish, '')
  const again = ['--quiet', '--only', 'FMB-01,ACU-11', '--restart-command', command, '--expectations', expectations]
  const known = await conformance(server.address, ...again)
  t.equal(known.code, 0, `what is written so is known and does not fail: ${known.stdout}`)
})

t.test('checks that crash a server can be left out', async (t) => {
  const server = await mortal(t)
  const { code, stdout } = await conformance(server.address, '--quiet', '--only', ROWS, '--except', 'ACU-11')
  t.equal(code, 0, stdout)
  t.equal(server.deaths(), 0)
})

t.test('a server that stays away ends the run, and only the row that was alone under way is blamed', async (t) => {
  const server = await mortal(t)
  const { code, stdout, stderr } = await conformance(server.address, '--quiet', '--format', 'json', '--only', 'ACU-11')
  t.equal(code, 2)
  t.match(stderr, /stopped answering in mid-run/)
  const { results, crashes } = JSON.parse(stdout) as ReportDocument
  t.same(
    results.map(({ id, verdict }) => [id, verdict]),
    [['ACU-11', 'crash']],
  )
  t.match(crashes, [{ row: 'ACU-11', cameBack: false }])
})

t.test('a method that is not there is one finding', async (t) => {
  const tamper = () => instead(getTree, () => ended(12))
  const proxy = await MutatingProxy.listen(upstream, { name: 'no-tree', breaks: '', caughtBy: [], tamper })
  t.teardown(() => proxy.close())
  const { stdout } = await conformance(proxy.address, '--quiet', '--format', 'json', '--only', 'TRE')
  const { results } = JSON.parse(stdout) as ReportDocument
  const found = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
  t.same(
    found.map(({ id }) => id),
    ['TRE-01'],
  )
  t.match(found[0]?.reason, /^ContentAddressableStorage\.GetTree is not implemented/)
  t.match(results.find(({ id }) => id === 'TRE-05')?.reason, /see TRE-01/)
})

t.test(
  'a method that answers UNIMPLEMENTED to one question and OK to others is there, and that answer is the finding',
  async (t) => {
    const tamper = () => instead(read, (request) => (Number(request?.readLimit) > 0 ? ended(12) : undefined))
    const proxy = await MutatingProxy.listen(upstream, { name: 'no-limits', breaks: '', caughtBy: [], tamper })
    t.teardown(() => proxy.close())
    const { stdout } = await conformance(proxy.address, '--quiet', '--format', 'json', '--only', 'BSR-01,BSR-06,CMP-12')
    const { results } = JSON.parse(stdout) as ReportDocument
    t.match(results.find(({ id }) => id === 'BSR-06')?.reason, /^expected OK; found UNIMPLEMENTED/)
    t.equal(
      results.find(({ id }) => id === 'BSR-06')?.verdict,
      'warn',
      'a refusal warns, whatever the level of the row',
    )
  },
)
