/** What an action prints on a real worker, by ByteStream.Read, while it runs. */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import t from 'tap'
import { unpack } from '../../src/proto/any.js'
import { codec } from '../../src/proto/codec.js'
import { Reader } from '../service/execution-harness.js'
import { REAPI, start, upload } from './worker-server.js'

t.setTimeout(300_000)

const metadataCodec = codec(`${REAPI}.ExecuteOperationMetadata`)
const responseCodec = codec(`${REAPI}.ExecuteResponse`)

interface Operation {
  readonly done: boolean
  readonly metadata: never
  readonly response: { readonly value: Buffer }
}

t.test('a client reads what a running action has printed, what it prints then, and its end', async (t) => {
  const running = await start(t)
  const gates = ['first', 'second'].map((name) => `${running.data}/${name}`)
  execFileSync('mkfifo', gates)
  const [first = '', second = ''] = gates
  // A gate holds the action up until the test writes to it.
  const script = `echo early; echo wrong >&2; cat ${first}; cat ${second}; echo late; exit 3`
  const actionDigest = await upload(running, { script })
  const operations = new Reader<Operation>(running.client.serverStream(`${REAPI}.Execution/Execute`, { actionDigest }))
  const named = await operations.until((one) => unpack(metadataCodec, one.metadata).stdoutStreamName !== '')
  const { stdoutStreamName, stderrStreamName } = unpack(metadataCodec, named.metadata)
  const read = (resourceName: string) =>
    new Reader<{ readonly data: Buffer }>(
      running.client.serverStream('google.bytestream.ByteStream/Read', { resourceName }),
    )
  const [out, error] = [read(stdoutStreamName), read(stderrStreamName)]
  t.equal((await out.next()).data.toString(), 'early\n', 'while it runs')
  t.equal((await error.next()).data.toString(), 'wrong\n')
  await writeFile(first, 'in between\n')
  t.equal((await out.next()).data.toString(), 'in between\n', 'as it comes')
  await writeFile(second, '')
  const rest = Buffer.concat((await out.rest()).map(({ data }) => data)).toString()
  t.equal(rest, 'late\n', 'the stream ends with the action')
  t.same(await error.rest(), [])
  const last = await operations.until(({ done }) => done)
  const { result } = responseCodec.decode(last.response.value)
  t.equal(result?.exitCode, 3)
  t.equal(result?.stdoutRaw.toString() || 'kept', result?.stdoutDigest === null ? 'early\nin between\nlate\n' : 'kept')
  const late = Buffer.concat((await read(stdoutStreamName).rest()).map(({ data }) => data)).toString()
  t.equal(late, 'early\nin between\nlate\n', 'whoever comes later gets all of it from the result')
})
