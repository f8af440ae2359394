import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import t, { type Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { TestClient } from '../server/client.js'
import { found } from '../until.js'
import { type Program, serve } from './program.js'

t.setTimeout(180_000)

const { SHA256 } = digestFunctions
const REAPI = 'build.bazel.remote.execution.v2'
const commandCodec = codec(`${REAPI}.Command`)
const actionCodec = codec(`${REAPI}.Action`)
const directoryCodec = codec(`${REAPI}.Directory`)
const treeCodec = codec(`${REAPI}.Tree`)
const historyCodec = codec('remexec.worker.v1.HistoricalExecuteResponse')
const responseCodec = codec(`${REAPI}.ExecuteResponse`)

const config = `{
  stores: {
    CAS: { fast_slow: {
      fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '1gb' } } },
      slow: { noop: {} },
    } },
    AC: { memory: { eviction_policy: { max_bytes: '10mb' } } },
    HISTORY: { memory: { eviction_policy: { max_bytes: '10mb' } } },
  },
  schedulers: { S: { simple: {} } },
  workers: [{ local: {
    worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    upload_action_result: {
      ac_store: 'AC', historical_results_store: 'HISTORY', upload_historical_results_strategy: 'everything',
      success_message_template: 'succeeded: {historical_results_hash}/{historical_results_size}',
      failure_message_template: 'failed: {historical_results_hash}/{historical_results_size} of {action_digest_hash}',
    },
  } }],
  servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
    cas: [{ cas_store: 'CAS' }, { instance_name: 'history', cas_store: 'HISTORY' }], ac: [{ ac_store: 'AC' }], execution: [{ cas_store: 'CAS', scheduler: 'S' }],
  } }],
}`

interface Running {
  readonly server: Program
  readonly client: TestClient
  readonly data: string
  /** The process that the server started for its worker. */
  workerPid(): Promise<number>
}

const start = async (t: Test, text = config): Promise<Running> => {
  const data = t.testdir({ 'c.json5': text, data: {} })
  const server = serve(t, `${data}/c.json5`, `${data}/data`)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=all/)
  await server.hears(/connected to the scheduler/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const workerPid = () =>
    found(() => childrenOf(server.child.pid ?? 0).find((pid) => commandOf(pid).includes('worker-process')))
  return { server, client, data: `${data}/data`, workerPid }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )

interface Work {
  readonly script: string
  readonly inputs?: Readonly<Record<string, Buffer>>
  readonly outputs?: readonly string[]
}

/** Uploads an action, runs it and returns its ExecuteResponse. */
const execute = async ({ client }: Running, { script, inputs = {}, outputs = [] }: Work) => {
  const command = commandCodec.encode({
    arguments: ['/bin/sh', '-c', script],
    environmentVariables: [{ name: 'PATH', value: process.env['PATH'] ?? '' }],
    outputPaths: [...outputs],
  })
  const files = Object.entries(inputs).map(([name, bytes]) => ({ name, digest: Digest.of(bytes, SHA256).toMessage() }))
  const root = directoryCodec.encode({ files })
  const action = actionCodec.encode({
    commandDigest: Digest.of(command, SHA256).toMessage(),
    inputRootDigest: Digest.of(root, SHA256).toMessage(),
  })
  const requests = [...Object.values(inputs), command, root, action].map((data) => ({
    digest: Digest.of(data, SHA256).toMessage(),
    data,
  }))
  for (const request of requests) {
    await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { requests: [request] }).response
  }
  let last: { readonly response?: { readonly value: Buffer } } = {}
  const actionDigest = Digest.of(action, SHA256).toMessage()
  for await (const operation of client.serverStream(`${REAPI}.Execution/Execute`, { actionDigest })) last = operation
  return responseCodec.decode(last.response?.value ?? Buffer.alloc(0))
}

t.test('one server with a worker', async (t) => {
  const running = await start(t)

  await t.test('results of actions are kept in the configured store, and referred to by the message', async (t) => {
    for (const [script, says, exitCode] of [
      ['echo well', /^succeeded: (\w+)\/(\d+)$/, 0],
      ['exit 3', /^failed: (\w+)\/(\d+) of (\w+)$/, 3],
    ] as const) {
      const { message } = await execute(running, { script })
      const [, hash = '', sizeBytes = '', actionHash] = says.exec(message) ?? []
      const wanted = { instanceName: 'history', digests: [{ hash, sizeBytes: Number(sizeBytes) }] }
      const read = running.client.unary(`${REAPI}.ContentAddressableStorage/BatchReadBlobs`, wanted)
      const [answer] = (await read.response)['responses']
      const { actionDigest, executeResponse } = historyCodec.decode(answer.data)
      t.equal(executeResponse?.result?.exitCode, exitCode)
      t.match(actionDigest?.hash, actionHash ?? /^\w{64}$/)
    }
  })

  await t.test('a Tree above 1 MiB is stored: an output directory of 20,000 files', async (t) => {
    const { status, result } = await execute(running, {
      script: 'mkdir d; i=0; while [ $i -lt 20000 ]; do echo $i > d/$i; i=$((i+1)); done',
      outputs: ['d'],
    })
    t.equal(status, null)
    const treeDigest = result?.outputDirectories[0]?.treeDigest
    t.ok(Number(treeDigest?.sizeBytes) > 1024 * 1024, 'the Tree has more than 1 MiB')
    const read = running.client.unary(`${REAPI}.ContentAddressableStorage/BatchReadBlobs`, { digests: [treeDigest] })
    const [answer] = (await read.response)['responses']
    const { root } = treeCodec.decode(answer.data)
    t.same(Digest.of(answer.data, SHA256).toMessage(), treeDigest)
    t.equal(root?.files.length, 20_000)
  })

  await t.test('an output larger than the store is refused before it is hashed', async (t) => {
    const { status } = await execute(running, { script: 'truncate -s 1T out', outputs: ['out'] })
    t.match(status, {
      code: 8,
      message: 'output "out": the file has 1099511627776 bytes, the store takes at most 1000000000',
    })
  })

  await t.test('the stores of a server are lent only to its workers', async (t) => {
    const [, address = ''] = await running.server.hears(/serving grpc:\/\/(\S+) server=worker_api/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const messages = async (...all: object[]): Promise<number | undefined> => {
      const stream = client.bidi('remexec.worker.v1.WorkerApi/Connect')
      const ended = new Promise<number | undefined>((resolve) => {
        stream.once('status', ({ code }: { code: number }) => resolve(code))
        stream.on('error', () => {})
        stream.resume()
      })
      for (const message of all) stream.write(message)
      return ended
    }
    const hello = { protocolVersion: 1, name: 'rogue' }
    t.equal(await messages({ hello: { ...hello, storeKey: '0'.repeat(64) } }), 7, 'with a key nobody was given')
    t.equal(await messages({ hello }, { storeRequest: { id: 1, reserve: {} } }), 7, 'without one')
  })
})

t.test('a worker of a server is another process, which uses the files of that server', async (t) => {
  const running = await start(t)
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

const noSandbox =
  spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0
    ? false
    : 'bubblewrap does not work here'

t.test('a confined action reads neither the configuration nor the store', { skip: noSandbox }, async (t) => {
  const confining = "work_directory: '$REMEXEC_DATA/w', use_namespaces: true, use_mount_namespace: true,"
  const running = await start(t, config.replace("work_directory: '$REMEXEC_DATA/w',", confining))
  const { data } = running
  const large = Buffer.alloc(300_000, 'large')
  const script = `cat ${data}/../c.json5 && exit 1; grep -r large ${data}/c ${data}/t && exit 2; for f in ${data}/c/* ${data}/t/*; do [ -e $f ] && echo $f; done; echo end`
  const { result } = await execute(running, {
    script: `(${script}) > out 2> err; cat out err; test ! -s err`,
    inputs: { large },
    outputs: ['out'],
  })
  t.equal(result?.exitCode, 1, 'cat says that it may not')
  t.equal(result?.outputFiles[0]?.digest?.hash, Digest.of(Buffer.from('end\n'), SHA256).hash, 'and no file is there')
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
