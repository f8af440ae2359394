import t from 'tap'
import { readAction } from '../../src/content/action.js'
import type { ExplainedMiss } from '../../src/misses/cause.js'
import { Folder, groupByCause } from '../../src/misses/grouped.js'
import { causeText, differenceText } from '../../src/misses/words.js'
import { Digest } from '../../src/reapi/digest.js'
import { memoryStore } from '../store/build.js'
import { digestOf } from './trees.js'
import { type Described, World } from './world.js'

const ABSENT = { outcome: 'miss', reason: 'absent' } as const
const WRITTEN = { outcome: 'written' } as const
const LIB = { target: '//:lib', mnemonic: 'CppCompile' }

/** What the page says about the only miss of the second build. */
const second = async (world: World, first: Described | undefined, now: Described): Promise<readonly string[]> => {
  if (first !== undefined) {
    const before = await world.upload(first)
    world.record(before, ABSENT, { ...LIB, invocation: 'one' })
    world.record(before, WRITTEN, { ...LIB, invocation: 'one' })
  }
  world.record(await world.upload(now), ABSENT, { ...LIB, invocation: 'two' })
  const [explained] = await world.misses('two')
  if (explained === undefined) return ['not a miss']
  const { cause } = explained
  return cause.kind === 'different' ? cause.differences.map(differenceText) : [causeText(cause)]
}

const grouped = (misses: readonly ExplainedMiss[]) => {
  const folder = new Folder()
  return groupByCause(misses.map((one) => folder.fold(one)))
}

t.test('an action of a target that was never built', async (t) => {
  t.strictSame(await second(await World.open(), undefined, {}), ['never built here'])
  const world = await World.open()
  const other = await world.upload({ command: { outputPaths: ['other'] } })
  world.record(other, WRITTEN, { ...LIB, invocation: 'one' })
  t.strictSame(await second(world, undefined, {}), ['never built here'], 'the target has made something else')
})

const differences: readonly (readonly [string, Described, Described, readonly string[]])[] = [
  ['salt', {}, { action: { salt: Buffer.from('x') } }, ['the salt differs']],
  [
    'timeout',
    { action: { timeout: { seconds: 60 } } },
    { action: { timeout: { seconds: 90 } } },
    ['the timeout was 60 s, is 90 s'],
  ],
  ['no timeout before', {}, { action: { timeout: { seconds: 90 } } }, ['the timeout was none, is 90 s']],
  ['do_not_cache', { action: { doNotCache: true } }, {}, ['the action was not to be cached before (do_not_cache)']],
  [
    'platform',
    { action: { platform: { properties: [{ name: 'OSFamily', value: 'linux' }] } } },
    { action: { platform: { properties: [{ name: 'OSFamily', value: 'windows' }] } } },
    ['platform: OSFamily was linux, is windows'],
  ],
  [
    'the platform in a Command is the same as in the Action',
    { command: { platform: { properties: [{ name: 'a', value: '1' }] } } },
    { action: { platform: { properties: [{ name: 'a', value: '1' }] } } },
    ['the same in another encoding'],
  ],
  [
    'an argument',
    { command: { arguments: ['cc', '-O2', '-c', 'a.c'] } },
    { command: { arguments: ['cc', '-O3', '-c', 'a.c'] } },
    ['argument -O2 became -O3'],
  ],
  [
    'a long argument is shown around what differs',
    { command: { arguments: ['sh', '-c', `${'set -e; '.repeat(20)}run --mode=fast > bin/out.txt; done`] } },
    { command: { arguments: ['sh', '-c', `${'set -e; '.repeat(20)}run --mode=slow > bin/out.txt; done`] } },
    ['argument "… -e; run --mode=fast > bin…" became "… -e; run --mode=slow > bin…"'],
  ],
  [
    'new arguments',
    { command: { arguments: ['cc', 'a.c'] } },
    { command: { arguments: ['cc', '-g', '-DX="a b"', 'a.c'] } },
    ['argument -g, "-DX=\\"a b\\"" is new'],
  ],
  [
    'many arguments',
    { command: { arguments: ['cc', 'a', 'b', 'c'] } },
    { command: { arguments: ['cc', 'd', 'e'] } },
    ['3 arguments became 2, from a to d on'],
  ],
  [
    'environment: names, no values',
    { command: { environmentVariables: [{ name: 'PATH', value: '/bin' }] } },
    {
      command: {
        environmentVariables: [
          { name: 'PATH', value: '/secret' },
          { name: 'X', value: '/secret' },
        ],
      },
    },
    ['environment: PATH differs, X is new'],
  ],
  [
    'outputs beside the first',
    { command: { outputPaths: ['out'] } },
    { command: { outputPaths: ['out', 'out.d'] } },
    ['output out.d is new'],
  ],
  [
    'working directory',
    {},
    { command: { workingDirectory: 'sub dir' } },
    ['the working directory was "", is "sub dir"'],
  ],
  [
    'an input file',
    { inputs: { src: { 'a.c': '1' } } },
    { inputs: { src: { 'a.c': '2' } } },
    ['input src/a.c changed'],
  ],
  [
    'several inputs',
    { inputs: { a: '1', b: '1', c: '1', d: '1' } },
    { inputs: { a: '2', c: { program: '1' }, d: '2', e: '2' } },
    ['input a changed, b is gone, c became executable, and 2 more'],
  ],
  [
    'everything: the first cause first',
    {},
    {
      action: { salt: Buffer.from('x'), timeout: { seconds: 1 } },
      command: { arguments: ['/bin/false'], environmentVariables: [{ name: 'A', value: '1' }] },
      inputs: { f: '1' },
    },
    [
      'the salt differs',
      'the timeout was none, is 1 s',
      'argument /bin/true became /bin/false',
      'environment: A is new',
      'input f is new',
    ],
  ],
]

for (const [what, before, now, expected] of differences)
  t.test(`an action that differs from the last one: ${what}`, async (t) => {
    t.strictSame(await second(await World.open(), before, now), expected)
  })

t.test('a cache-only client uploads no input directories: the page says that inputs differ', async (t) => {
  const world = await World.open()
  const before = await world.upload({ inputs: { a: '1' } })
  const now = await world.upload({ inputs: { a: '2' } })
  for (const digest of await roots(world, [before, now])) await world.cas.remove(digest, 'unwanted', world.call)
  world.record(before, WRITTEN, { ...LIB, invocation: 'one' })
  world.record(now, ABSENT, { ...LIB, invocation: 'two' })
  t.strictSame(
    (await world.misses('two')).map(({ cause }) => causeText(cause)),
    ['inputs differ; the server does not have the list of inputs'],
  )
})

const roots = (world: World, actions: readonly Digest[]): Promise<Digest[]> =>
  Promise.all(
    actions.map(async (digest) =>
      Digest.parse((await readAction(world.cas, digest, world.call)).inputRootDigest, digest.function),
    ),
  )

t.test('an action whose Action is not in the CAS, or whose predecessors are not', async (t) => {
  const world = await World.open()
  world.record(digestOf('before'), WRITTEN, { ...LIB, invocation: 'one' })
  world.record(digestOf('now'), ABSENT, { ...LIB, invocation: 'two' })
  world.record(await world.upload(), ABSENT, { ...LIB, invocation: 'three' })
  const texts = async (invocation: string) => (await world.misses(invocation)).map(({ cause }) => causeText(cause))
  t.strictSame(await texts('two'), ['not known: the client did not upload the Action'])
  t.strictSame(await texts('three'), ['not known: no earlier Action like it is in the CAS any more'])
})

t.test('the same action had a result, or never got one', async (t) => {
  const world = await World.open()
  const cases = [
    [{ outcome: 'hit' }, 'evicted: the action cache had its result before'],
    [{ outcome: 'written' }, 'evicted: the action cache had its result before'],
    [ABSENT, 'requested before, and nobody wrote a result since'],
    [{ outcome: 'ran', reason: 'exit code 1' }, 'ran before, and its result was not kept: exit code 1'],
    [{ outcome: 'failed', reason: 'UNAVAILABLE' }, 'requested before, and nobody wrote a result since'],
  ] as const
  for (const [index, [outcome, expected]] of cases.entries()) {
    const action = await world.upload({ command: { arguments: [String(index)] } })
    world.record(action, outcome, { ...LIB, invocation: 'one' })
    world.record(action, ABSENT, { ...LIB, invocation: `two ${index}` })
    // What comes later explains nothing.
    world.record(action, WRITTEN, { ...LIB, invocation: 'three' })
    const [explained] = await world.misses(`two ${index}`)
    t.equal(explained && causeText(explained.cause), expected)
  }
  const uncached = await world.upload({ action: { doNotCache: true } })
  world.record(uncached, { outcome: 'ran', reason: 'do_not_cache' }, { ...LIB, invocation: 'one' })
  world.record(uncached, ABSENT, { ...LIB, invocation: 'uncached' })
  const [explained] = await world.misses('uncached')
  t.equal(explained && causeText(explained.cause), 'the client wants no result of this action kept (do_not_cache)')
})

t.test('the moment of an eviction is known', async (t) => {
  const world = await World.open(await memoryStore({ max_count: 1 }))
  const [action, next] = [await world.upload(), await world.upload({ command: { arguments: ['next'] } })]
  await world.putResult(action, {})
  world.record(action, WRITTEN, { ...LIB, invocation: 'one' })
  const beganMs = Math.floor(Date.now() / 1000) * 1000
  await world.putResult(next, {})
  world.record(action, ABSENT, { ...LIB, invocation: 'two' })
  const [explained] = await world.misses('two')
  const evictedMs = explained?.cause.kind === 'evicted' ? explained.cause.evictedMs : undefined
  t.ok(evictedMs !== undefined && evictedMs >= beganMs, `${evictedMs}`)
  const nowMs = Date.now()
  t.ok((evictedMs ?? nowMs) <= nowMs, `${evictedMs}`)
})

t.test('an output is gone: the page names its path', async (t) => {
  const world = await World.open()
  const outputs = { file: digestOf('file'), tree: digestOf('tree'), inside: digestOf('inside'), log: digestOf('log') }
  const action = await world.upload()
  await world.putResult(action, {
    outputFiles: [{ path: 'bin/x.o', digest: outputs.file.toMessage() }],
    outputDirectories: [{ path: 'bin/dir', treeDigest: outputs.tree.toMessage() }],
    stderrDigest: outputs.log.toMessage(),
  })
  for (const [name, { key }] of Object.entries(outputs))
    world.record(action, { outcome: 'miss', reason: 'incomplete', output: key }, { ...LIB, invocation: name })
  const texts = await Promise.all(
    Object.keys(outputs).map(async (name) => (await world.misses(name)).map(({ cause }) => causeText(cause))),
  )
  t.strictSame(texts.flat(), [
    'output gone: bin/x.o',
    'output gone: bin/dir',
    'output gone: inside bin/dir',
    'output gone: stderr',
  ])
  await world.results.remove(action, 'unwanted', world.call)
  const [explained] = await world.misses('file')
  t.equal(explained && causeText(explained.cause), `output gone: ${outputs.file.key}`)
})

t.test('damaged entries and a cache behind that refuses', async (t) => {
  const world = await World.open()
  world.record(await world.upload(), { outcome: 'miss', reason: 'damaged' }, { invocation: 'one' })
  world.record(await world.upload(), { outcome: 'miss', reason: 'forbidden' }, { invocation: 'two' })
  t.match((await world.misses('one'))[0]?.cause, { kind: 'damaged' })
  t.match((await world.misses('two'))[0]?.cause, { kind: 'forbidden' })
})

t.test('a client without metadata: the action with the same outputs is the one to compare with', async (t) => {
  const world = await World.open()
  const make = (name: string, option: string) =>
    world.upload({ command: { outputPaths: [name], arguments: ['cc', option, name] } })
  world.record(await make('a.o', '-O2'), WRITTEN)
  world.record(await make('b.o', '-O2'), WRITTEN)
  world.record(await make('a.o', '-O3'), ABSENT)
  world.record(await make('c.o', '-O3'), ABSENT)
  const texts = (await world.misses('')).map(({ cause }) => causeText(cause))
  t.strictSame(texts, ['argument -O2 became -O3', 'never built here'])
})

t.test('nothing of another instance explains a miss', async (t) => {
  const world = await World.open()
  const before = await world.upload({ command: { arguments: ['1'] } })
  const now = await world.upload({ command: { arguments: ['2'] } })
  world.record(before, WRITTEN, { ...LIB, invocation: 'one', instance: 'theirs' })
  world.record(now, { outcome: 'hit' }, { ...LIB, invocation: 'one', instance: 'theirs' })
  world.record(now, ABSENT, { ...LIB, invocation: 'two', instance: 'ours' })
  t.match(await world.misses('two', 'ours'), [{ cause: { kind: 'never built' } }])
  t.strictSame(await world.misses('one', 'ours'), [])
  t.strictSame(await world.misses('two', 'theirs'), [])
})

t.test('misses of a build are grouped: causes of their own first, consequences last', async (t) => {
  const world = await World.open()
  const path = (value: string) => ({ environmentVariables: [{ name: 'PATH', value }] })
  const build = async (invocation: string, value: string, header: string): Promise<void> => {
    for (const name of ['a', 'b', 'c']) {
      const command = { ...path(value), outputPaths: [`${name}.o`] }
      const compile = { command: { ...command, workingDirectory: 'bin' }, inputs: { 'a.h': header } }
      world.record(await world.upload(compile), ABSENT, { invocation, target: `//:${name}`, mnemonic: 'Compile' })
      world.record(await world.upload(compile), WRITTEN, { invocation, target: `//:${name}`, mnemonic: 'Compile' })
    }
    const link = { command: { outputPaths: ['x'] }, inputs: { bin: { 'a.o': `${value}${header}` } } }
    world.record(await world.upload(link), ABSENT, { invocation, target: '//:x', mnemonic: 'Link' })
    const check = { command: { outputPaths: ['log'] }, inputs: { 'a.h': header, bin: { 'a.o': `${value}${header}` } } }
    world.record(await world.upload(check), ABSENT, { invocation, target: '//:y', mnemonic: 'Check' })
  }
  await build('one', '/bin', '1')
  await build('two', '/usr/bin', '1')
  await build('three', '/usr/bin', '2')
  const groups = async (invocation: string) =>
    grouped(await world.misses(invocation)).map(({ text, misses, earlierInvocation, isConsequence }) => ({
      ...{ text, count: misses.length, earlierInvocation, isConsequence },
    }))
  t.strictSame(await groups('two'), [
    { text: 'environment: PATH differs', count: 3, earlierInvocation: 'one', isConsequence: false },
    {
      text: 'inputs that other misses of this build made differ',
      count: 2,
      earlierInvocation: 'one',
      isConsequence: true,
    },
  ])
  t.strictSame(await groups('three'), [
    { text: 'input a.h changed', count: 4, earlierInvocation: 'two', isConsequence: false },
    {
      text: 'inputs that other misses of this build made differ',
      count: 1,
      earlierInvocation: 'two',
      isConsequence: true,
    },
  ])
  t.strictSame(await groups('one'), [
    { text: 'never built here', count: 5, earlierInvocation: '', isConsequence: false },
  ])
})

t.test('an action that a build requests again counts once, and only other builds explain it', async (t) => {
  const world = await World.open()
  const compile = (option: string) => world.upload({ command: { arguments: ['cc', option] } })
  const asked = (invocation: string) => ({ ...LIB, invocation })
  world.record(await compile('-O1'), WRITTEN, asked('one'))
  world.record(await compile('-O2'), ABSENT, asked('two'))
  world.record(await compile('-O3'), ABSENT, asked('two'))
  world.record(await compile('-O3'), { outcome: 'ran', reason: 'exit code 1' }, asked('two'))
  world.record(await compile('-O3'), ABSENT, asked('two'))
  t.strictSame(
    (await world.misses('two')).map(({ cause }) => causeText(cause)),
    ['argument -O1 became -O2', 'argument -O1 became -O3'],
  )
})

t.test('a file inside of an output directory of another miss is a consequence', async (t) => {
  const world = await World.open()
  const build = async (invocation: string, text: string): Promise<void> => {
    const generate = { command: { outputPaths: ['gen/dir'], arguments: ['gen', text] } }
    world.record(await world.upload(generate), ABSENT, { invocation, target: '//:gen' })
    const use = { command: { outputPaths: ['x'] }, inputs: { gen: { dir: { sub: { file: text } } } } }
    world.record(await world.upload(use), ABSENT, { invocation, target: '//:use' })
  }
  await build('one', '1')
  await build('two', '2')
  t.match(grouped(await world.misses('two')), [
    { text: 'argument 1 became 2', isConsequence: false },
    { misses: { length: 1 }, isConsequence: true },
  ])
})
