import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { found } from '../until.js'
import { config, execute, REAPI, SHA256, start } from './worker-server.js'

t.setTimeout(600_000)

t.test('a worker of a server is another process, which uses the files of that server', async (t) => {
  // A worker of root copies inputs that no other store has.
  const slow = "slow: { filesystem: { content_path: '$REMEXEC_DATA/s', temp_path: '$REMEXEC_DATA/st' } }"
  const running = await start(t, config.replace('slow: { noop: {} }', slow))
  const pid = await running.workerPid()
  const large = Buffer.alloc(300_000, 'large')
  const small = Buffer.from('small')
  const { status, result } = await execute(running, {
    script: 'cat large large > twice; stat -c "%h %i" large twice > links; cat small; ls -l; cat small >&2',
    inputs: { large, small },
    outputs: ['links', 'twice'],
  })
  t.equal(status, null)
  t.equal(result?.exitCode, 0)
  const [links, twice] = result?.outputFiles ?? []
  t.equal(twice?.digest?.hash, Digest.of(Buffer.concat([large, large]), SHA256).hash)
  const read = async (digest: object | null | undefined): Promise<string> => {
    const { responses } = await running.client.unary(`${REAPI}.ContentAddressableStorage/BatchReadBlobs`, {
      digests: [digest],
    }).response
    return responses[0].data.toString()
  }
  const [[inputLinks, input], [, output]] = (await read(links?.digest)).split('\n').map((line) => line.split(' ')) as [
    [string, string],
    [string, string],
  ]
  t.equal(inputLinks, '2', 'a large input is a link to the file of the store')
  const inodes = new Map(
    readdirSync(`${running.data}/c`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => statSync(`${parentPath}/${name}`))
      .map(({ ino, size }) => [String(ino), size]),
  )
  t.equal(inodes.get(input), 300_000)
  t.equal(inodes.get(output), 600_000, 'a large output is the file that the action wrote')
  t.equal((await read(twice?.digest)).length, 600_000, 'a large output can be read')
  t.equal(await read(result?.stderrDigest), 'small')
  t.ok(existsSync(`/proc/${pid}`))
  t.notOk(
    readFileSync(`/proc/${pid}/environ`, 'utf8').includes('REMEXEC_DATA'),
    'it has not the environment of its server',
  )
  running.server.child.kill('SIGTERM')
  t.equal((await running.server.ended).code, 143)
  t.notOk(existsSync(`/proc/${pid}`), 'it stops with its server')
  t.same(readdirSync(`${running.data}/w`), [], 'and leaves nothing')
})

t.test('a worker that dies is restarted, and its action runs again', async (t) => {
  const running = await start(t)
  const pid = await running.workerPid()
  const trace = `${running.data}/trace`
  const response = execute(running, { script: `echo $$ >> ${trace}; [ $(wc -l < ${trace}) = 2 ] || sleep 600` })
  await found(() => (existsSync(trace) && statSync(trace).size > 0 ? true : undefined))
  process.kill(pid, 'SIGKILL')
  t.equal((await response).result?.exitCode, 0)
  const [first] = readFileSync(trace, 'utf8').split('\n')
  await found(() => (existsSync(`/proc/${first}`) ? undefined : true))
  t.not(await running.workerPid(), pid)
  t.match(running.server.said(), /the process of a worker ended and is started again.*SIGKILL/)
})

t.test('neither worker nor action outlives a server that was killed', async (t) => {
  const running = await start(t)
  const pid = await running.workerPid()
  const place = `${running.data}/pid`
  execute(running, { script: `echo $$ > ${place}; sleep 600` }).catch(() => {})
  const action = await found(() => (existsSync(place) && Number(readFileSync(place, 'utf8'))) || undefined)
  running.server.child.kill('SIGKILL')
  await found(() => (existsSync(`/proc/${pid}`) || existsSync(`/proc/${action}`) ? undefined : true))
  t.pass('both are gone')
})
