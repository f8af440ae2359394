import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Exam } from '../../../conformance/exam/exam.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import type { ReportDocument } from '../../../conformance/report/document.js'
import { settingsOf } from '../../../conformance/run/arguments.js'
import { scratchFolder } from '../../clients/scratch.js'
import { conformance } from '../program.js'
import { startServer } from '../server.js'
import { open, recording, useServer } from './recording.js'

// For changes in: conformance

// `--session FOLDER` as somebody uses it who has recorded a client of their own.

t.setTimeout(180_000)
const address = await startServer(t)

const folder = await scratchFolder(t)
const own = join(folder, 'our-client')

t.test('a client is recorded', async (t) => {
  const recorder = await recording(t, address, '--client', 'Our client', '--summary', 'counts words', own)
  await useServer(t, new Exam(await open(t, recorder.address)))
  await recorder.finish()
})

t.test('a recorded session is a row of the run, and of its report', async (t) => {
  const args = [
    '--session',
    own,
    '--only',
    'SES-our-client,SES-recc,FMB-01',
    '--format',
    'json',
    '--server-name',
    'ours',
  ]
  const { code, stdout, stderr } = await conformance(address, ...args)
  t.equal(code, 0, stderr)
  const { results, settings } = JSON.parse(stdout) as ReportDocument
  t.same(results.map(({ id, verdict }) => [id, verdict]).sort(), [
    ['FMB-01', 'pass'],
    ['SES-our-client', 'pass'],
    ['SES-recc', 'pass'],
  ])
  t.match(
    results.find(({ id }) => id === 'SES-our-client'),
    { requirement: 'Our client: counts words', source: 'recorded from Our client', level: 'must' },
  )
  t.match(stderr, /3\/3 ok +SES-\S+ /)
  t.ok(settings.includes('--session our-client'), 'the report says that it was given')
})

t.test('--explain shows its calls', async (t) => {
  const { code, stdout } = await conformance(address, '--session', own, '--explain', 'SES-our-client', '--quiet')
  t.equal(code, 0)
  t.match(stdout, /\d+ build\.bazel\.remote\.execution\.v2\.Execution\/Execute\n {4}> /)
})

t.test('a server that its client would stumble over fails', async (t) => {
  const mutation = mutations.find(({ name }) => name === 'read-flips-byte')
  const proxy = await MutatingProxy.listen(address, mutation)
  t.teardown(() => proxy.close())
  const { code, stdout } = await conformance(proxy.address, '--session', own, '--only', 'SES-our-client', '--quiet')
  t.equal(code, 1)
  t.match(stdout, /FAIL SES-our-client .*ByteStream\/Read: data/)
})

t.test('a folder without a session, or with a broken one, is reported in one line', async (t) => {
  const text = readFileSync(join(own, 'session.json5'), 'utf8')
  const broken = (name: string, replace: (text: string) => string): string => {
    cpSync(own, join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'session.json5'), replace(text))
    return join(folder, name)
  }
  const cases: readonly (readonly [folder: string, reason: RegExp])[] = [
    [join(folder, 'absent'), /absent holds no session\.json5$/],
    [broken('cut', (text) => text.slice(0, 500)), /cut\/session\.json5: JSON5: invalid /],
    [broken('old', (text) => text.replace('format: 1', 'format: 0')), /format 0, expected 1$/],
    [broken('headless', (text) => text.replace(/^ {2}level: .*$/m, '')), /level: expected 'must'/],
    [
      broken('method', (text) => text.replace(/\/GetCapabilities'/, "/GetCapability'")),
      /call 1: .*GetCapability is no method/,
    ],
    [broken('order', (text) => text.replace('after: []', 'after: [99]')), /call 1 comes after call 99, which is no /],
    [broken('message', (text) => text.replace(/\['>',\d+,/, "['=',1,")), /call 1\.messages: expected a list of \['>' /],
    [
      broken('blobs', (text) => text.replace(/blobs: \{/, "blobs: { 'ab/3': { file: 'gone' },")),
      /blobs\/gone is missing$/,
    ],
    [broken('source', (text) => text.replace(/blobs: \{/, "blobs: { 'ab/3': {},")), /the blob ab\/3: expected text, /],
    [broken('recc', (text) => text), /SES-recc is taken by .*; rename the folder$/],
  ]
  for (const [given, message] of cases) {
    t.throws(() => settingsOf([address, '--session', given]), { name: 'TargetError', message }, given)
  }
  const { code, stdout, stderr } = await conformance(address, '--session', join(folder, 'absent'))
  t.same([code, stdout], [2, ''])
  t.match(stderr, /^--session \S+absent holds no session\.json5\n$/)
})
