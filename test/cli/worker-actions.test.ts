import { spawnSync } from 'node:child_process'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { TestClient } from '../server/client.js'
import { config, execute, REAPI, SHA256, start } from './worker-server.js'

t.setTimeout(600_000)

const treeCodec = codec(`${REAPI}.Tree`)
const historyCodec = codec('remexec.worker.v1.HistoricalExecuteResponse')

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

  await t.test('a Tree above 1 MiB is stored: an output directory of 6000 files with long names', async (t) => {
    const { status, result } = await execute(running, {
      script: 'mkdir d; cd d; seq -f %0180g 6000 | xargs touch',
      outputs: ['d'],
    })
    t.equal(status, null)
    const treeDigest = result?.outputDirectories[0]?.treeDigest
    t.ok(Number(treeDigest?.sizeBytes) > 1024 * 1024, 'the Tree has more than 1 MiB')
    const read = running.client.unary(`${REAPI}.ContentAddressableStorage/BatchReadBlobs`, { digests: [treeDigest] })
    const [answer] = (await read.response)['responses']
    const { root } = treeCodec.decode(answer.data)
    t.same(Digest.of(answer.data, SHA256).toMessage(), treeDigest)
    t.equal(root?.files.length, 6000)
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
