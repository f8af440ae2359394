/** The pages of one invocation: what events say, and what hostile events cannot do. */
import t from 'tap'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { bazel } from '../builds/harness.js'
import { CAS, wire } from '../service/harness.js'
import { type PagesOptions, rowsIn, startPages, textIn } from './harness.js'
import { events, profile, stderr } from './hostile.js'

const start = async (t: Parameters<typeof startPages>[0], options: PagesOptions = {}) => {
  const server = await startPages(t, { invocations: [{ id: 'one', events }], ...options })
  if (options.security === undefined)
    await server.client.unary(`${CAS}/BatchUpdateBlobs`, {
      instanceName: 'main',
      requests: [stderr, profile].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
    }).response
  return server
}

t.test(
  'each part of an invocation has a page, on which hostile text is only text and secrets are hidden',
  async (t) => {
    const { get } = await start(t)
    for (const tab of ['', '/targets', '/tests', '/log', '/timing', '/cache', '/command', '/log.txt']) {
      const { answer, text } = await get(`/invocation/one${tab}`)
      t.equal(answer.status, 200, tab)
      t.notMatch(text, /super-secret|other-secret/, `${tab}: secrets`)
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      t.match(answer.headers.get('content-security-policy'), "default-src 'none'")
      if (tab === '/log.txt') {
        t.match(answer.headers.get('content-type'), 'text/plain')
        continue
      }
      t.notMatch(text, /<script>alert|<b>markup|onload="x|\u202e|href="javascript/, `${tab}: markup`)
    }
  },
)

t.test('the first page has the outcome, then what failed with what it wrote', async (t) => {
  const { get } = await start(t)
  const shown = textIn((await get('/invocation/one')).text)
  t.match(shown, /✗ failed/)
  t.match(shown, /Failed actions \/\/a:lib CppCompile The exit code is not known\./, 'not the exit code of the tool')
  t.match(shown, /red <b>markup<\/b> U\+202E TOKEN=\(hidden\)/)
  t.match(shown, /Flaky tests .* \/\/a:test : 2 attempts/)
})

t.test(
  'commits and pull requests are links by the patterns of the configuration, whatever they are called',
  async (t) => {
    const pages = {
      commit_url: 'https://git.example/c/{commit}',
      pull_request_url: 'https://git.example/{branch}/{pull_request}',
    }
    const metadata = { COMMIT_SHA: 'a/../"><script>', PR_NUMBER: '7', BRANCH_NAME: 'x y' }
    const named = bazel({ buildMetadata: { metadata } })
    const { get } = await startPages(t, {
      pages,
      invocations: [
        { id: 'one', events: [named] },
        { id: 'two', events: [bazel({ buildMetadata: { metadata: { PR_NUMBER: '8' } } })] },
      ],
    })
    const { text } = await get('/invocation/one')
    t.match(text, 'href="https://git.example/c/a%2F..%2F%22%3E%3Cscript%3E"')
    t.match(text, 'href="https://git.example/x%20y/7"')
    t.match(JSON.parse((await get('/invocation/one.json')).text), { pullRequestUrl: 'https://git.example/x%20y/7' })
    t.notMatch((await get('/invocation/two')).text, 'git.example', 'without a branch there is no link')
  },
)

t.test('a target that was skipped says why below its label', async (t) => {
  const skipped = bazel({
    id: { targetCompleted: { label: '//a:mac' } },
    aborted: { reason: 5, description: 'incompatible with linux' },
  })
  const { get } = await start(t, { invocations: [{ id: 'one', events: [...events, skipped] }] })
  const rows = rowsIn((await get('/invocation/one/targets')).text)
  t.match(rows, [
    [/State/, 'Target', 'Kind'],
    ['✗ failed'],
    ['■ skipped', /^\/\/a:mac .*: incompatible with linux$/, ''],
  ])
})

t.test('targets, tests with attempts and shards, and times', async (t) => {
  const { get } = await start(t)
  t.match(rowsIn((await get('/invocation/one/targets')).text), [[/State/], ['✗ failed', '//a:lib', 'cc_library rule']])
  const tests = rowsIn((await get('/invocation/one/tests')).text)[1] ?? []
  t.match(tests, ['◐ flaky', '//a:test', '4.0 s', /shard 2 of 3, attempt 1: ✗ failed in 1.5 s/])
  t.match(tests[3], /attempt 2: ✓ passed in 2.5 s, from the remote cache/)
  const timing = await get('/invocation/one/timing')
  t.match(rowsIn(timing.text).slice(1, 3), [
    ['1.0 s', 'Compiling <x>'],
    ['2.5 s', 'Linking //a:lib'],
  ])
  t.match(textIn(timing.text), /2\.0 s from 1\.0 s: Compiling <a> \(action processing\)/)
  t.equal([...timing.text.matchAll(/<rect class="(k\d|unknown)" x/g)].length, 3)
})

t.test('a file that was not uploaded is said to be so, and files of the machine are no links', async (t) => {
  const server = await startPages(t, { invocations: [{ id: 'one', events }] })
  t.match(textIn((await server.get('/invocation/one')).text), 'it was not uploaded, or is no longer stored')
  t.match(textIn((await server.get('/invocation/one/timing')).text), 'The profile was not uploaded')
  t.notMatch((await server.get('/invocation/one/timing')).text, /href="[^"]*passwd/)
})

t.test('an invocation of another instance does not exist for a reader', async (t) => {
  const sha256 = (text: string) => Digest.of(Buffer.from(text), digestFunctions.SHA256).hash
  const security = {
    identity: { tokens: ['ann', 'bob'].map((name) => ({ name, sha256: sha256(`token-of-${name}`) })) },
    access: [
      { names: ['ann'], may: ['read_ac'], instances: ['main'] },
      { names: ['bob'], may: ['read_ac'], instances: ['other'] },
    ],
  }
  const { get } = await start(t, { security })
  const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })
  for (const tab of ['', '/log', '/log.txt', '/cache']) {
    t.equal((await get(`/invocation/one${tab}`, as('ann'))).answer.status, 200, tab)
    const refused = await get(`/invocation/one${tab}`, as('bob'))
    const absent = await get(`/invocation/none${tab}`, as('bob'))
    t.equal(refused.answer.status, 404, tab)
    t.equal(
      textIn(refused.text).replace('one', 'none'),
      textIn(absent.text),
      `${tab}: looks like one that is not there`,
    )
    t.equal((await get(`/invocation/one${tab}`)).answer.status, 401, tab)
  }
  const shown = textIn((await get('/invocation/one', as('ann'))).text)
  t.match(shown, 'you may not read the CAS of its instance', 'ann may read results and no content')
})

t.test('the same id in two instances is two builds', async (t) => {
  const other = [bazel({ started: { command: 'query' } }), bazel({ finished: { exitCode: { code: 0 } } })]
  const { get } = await startPages(t, {
    invocations: [
      { id: 'one', events },
      { id: 'one', instance: 'other', events: other },
    ],
  })
  t.match(textIn((await get('/invocation/one?instance=main')).text), '✗ failed')
  t.match(textIn((await get('/invocation/one?instance=other')).text), '✓ succeeded query')
})

t.test('a stream that broke is told, and events of an unknown kind are counted', async (t) => {
  // Field 999 of BuildEvent.
  const unknown = Buffer.from([0xba, 0x3e, 0x01, 0x78])
  const { events: codec } = await import('../builds/harness.js')
  const event = codec.encode({
    bazelEvent: { typeUrl: 'type.googleapis.com/build_event_stream.BuildEvent', value: unknown },
  })
  const { get } = await startPages(t, {
    invocations: [{ id: 'one', events: [bazel({ started: { command: 'build' } }), event], isFinished: false }],
  })
  const shown = textIn((await get('/invocation/one')).text)
  t.match(shown, '◐ incomplete')
  t.match(shown, 'broke before its end')
  t.match(shown, '1 events are of kinds that this version does not know')
})

t.test(
  'control characters and marks of direction are numbers on every page, whatever field or address they come from',
  async (t) => {
    const odd = 'odd\u001b[31m\u202Efield\u0007\u2066\u0085'
    const fields = [
      bazel({
        id: { pattern: { pattern: [odd] } },
        started: { command: odd, buildToolVersion: odd, workspaceDirectory: odd, startTimeMillis: 1_700_000_000_000 },
      }),
      bazel({
        structuredCommandLine: {
          commandLineLabel: odd,
          sections: [{ sectionLabel: odd, chunkList: { chunk: [odd] } }],
        },
      }),
      bazel({
        workspaceStatus: { item: ['BUILD_USER', 'GIT_BRANCH', 'REPO_URL', 'HOST'].map((key) => ({ key, value: odd })) },
      }),
      bazel({ buildMetadata: { metadata: { ROLE: odd, [odd]: odd } } }),
      bazel({ id: { targetConfigured: { label: odd } }, configured: { targetKind: odd } }),
      bazel({ id: { targetCompleted: { label: odd } }, aborted: { reason: 5, description: odd } }),
      bazel({ id: { testSummary: { label: odd } }, testSummary: { overallStatus: 4 } }),
      bazel({ finished: { exitCode: { name: odd, code: 3 }, failureDetail: { message: odd } } }),
    ]
    const { get } = await start(t, { invocations: [{ id: 'one', events: fields }] })
    const query = `q=${encodeURIComponent(odd)}&action=${encodeURIComponent(odd)}&sort=${encodeURIComponent(odd)}`
    const tabs = ['', '/targets', '/tests', '/log', '/timing', '/cache', '/command'].map(
      (tab) => `/invocation/one${tab}`,
    )
    for (const page of ['/', '/queue', '/workers', '/stores', '/server', `/${encodeURIComponent(odd)}`, ...tabs])
      for (const path of [page, `${page}?${query}`]) {
        const { text } = await get(path)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        t.notMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/, path)
      }
    t.match((await get('/invocation/one')).text, 'U+202E')
  },
)
