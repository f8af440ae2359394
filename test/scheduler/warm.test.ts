/** Actions and the workers that hold what they need: an image, an input root, a process. */
import t from 'tap'
import { imageKey } from '../../src/reapi/container-image.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { warmKeyOf } from '../../src/reapi/persistent-worker.js'
import { rootKeysOf } from '../../src/reapi/root-keys.js'
import type { ExecutionRequest } from '../../src/scheduler/scheduler.js'
import type { MatchKind } from '../../src/scheduler/simple/state/requirement.js'
import { Bench, type Pairs } from './bench.js'

const supportedPlatformProperties = new Map<string, MatchKind>([['*', 'ignore']])
const X = 'docker://example.com/x:1'
const Y = 'docker://example.com/y:1'
const image = (name: string): Pairs => [['container-image', name]]

const bench = (): Bench => new Bench({ supportedPlatformProperties })
const withImages = (bench: Bench, id: string, slots: number, ...held: readonly string[]): void => {
  bench.worker(id, [], slots, 0, true)
  bench.do(bench.machine.warm(bench.nowMs, id, held.map(imageKey), []))
}
const whereRan = (bench: Bench): string[] => bench.of('start').map(({ workerId }) => workerId)
const why = (bench: Bench, name: string): string => bench.machine.explained(name)?.progress?.waitsFor ?? ''
const attemptOn = (bench: Bench, workerId: string): string =>
  bench.of('start').findLast((start) => start.workerId === workerId)?.start.attemptId ?? ''

t.test('an image is known by its digest, or by the text that names it by a tag', async (t) => {
  const digest = `sha256:${'a'.repeat(64)}`
  t.equal(imageKey(`docker://example.com/x@${digest}`), `image:${digest}`)
  t.equal(imageKey(`mirror.example.com/other/x@${digest}`), `image:${digest}`)
  t.equal(imageKey(X), `image:${X}`)
})

t.test('an action goes to a worker that has its image, if one has room', async (t) => {
  const b = bench()
  withImages(b, 'a', 2, X)
  withImages(b, 'b', 2, Y)
  for (const name of [Y, X, Y, X]) b.enqueue(image(name))
  t.same(whereRan(b), ['b', 'a', 'b', 'a'])
})

t.test('an action whose image a busy worker has waits for it, for a moment, and is told so', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X))
  const second = b.enqueue(image(X))
  t.same(whereRan(b), ['warm'])
  t.equal(
    why(b, second),
    `it waits for 200 ms at most for a worker that has image:${X} ready (warm runs 1 of 1); 0 others wait, 0 of them of its instance`,
  )
  t.same(
    b.of('wake').map(({ atMs }) => atMs),
    [200],
    'the host is told when to look',
  )
  b.pass(190)
  t.same(whereRan(b), ['warm'])
  b.pass(10)
  t.same(whereRan(b), ['warm', 'cold'], 'then it starts where there is room')
})

t.test('a worker that becomes free takes the action that waits for its image', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X))
  b.enqueue(image(X))
  b.pass(100)
  b.finish('warm', attemptOn(b, 'warm'))
  t.same(whereRan(b), ['warm', 'warm'])
  b.pass(500)
  t.same(whereRan(b), ['warm', 'warm'], 'once')
})

t.test('an action waits once for a warm worker, whatever becomes of it', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X))
  b.enqueue(image(X))
  b.pass(200)
  b.fail('cold', attemptOn(b, 'cold'))
  t.same(whereRan(b), ['warm', 'cold'], 'where it failed is the last choice')
  b.worker('third', [], 1, 0, true)
  t.equal(whereRan(b).at(-1), 'third')
})

t.test('while an action waits for a warm worker, others start where there is room', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X))
  b.enqueue(image(X))
  b.enqueue([])
  b.enqueue(image(Y))
  t.same(whereRan(b), ['warm', 'cold'])
})

t.test('a warm worker takes what is due by shares and priority before what waits for it', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X), { instance: 'greedy' })
  b.enqueue([], { instance: 'other' })
  const waiting = b.enqueue(image(X), { instance: 'greedy' })
  b.enqueue([], { instance: 'modest' })
  b.finish('warm', attemptOn(b, 'warm'))
  t.match(b.starts.at(-1), new RegExp(`^warm ${b.of('start').at(-1)?.start.operationName} `))
  t.not(b.of('start').at(-1)?.start.operationName, waiting, 'the other instance has fewer running')

  const c = bench()
  withImages(c, 'warm', 1, X)
  withImages(c, 'cold', 1)
  c.enqueue(image(X))
  c.enqueue(image(X), { priority: 5 })
  c.enqueue([])
  const urgent = c.enqueue([], { priority: 1 })
  c.finish('warm', attemptOn(c, 'warm'))
  t.equal(c.of('start').at(-1)?.start.operationName, urgent)
})

t.test('a worker prefers what it is warm for among equals, and passes over others for a moment only', async (t) => {
  const b = bench()
  withImages(b, 'w', 1, X)
  b.enqueue(image(X))
  const first = b.enqueue(image(Y))
  const warm = [b.enqueue(image(X)), b.enqueue(image(X)), b.enqueue(image(X))]
  b.enqueue(image(X), { priority: 1 })
  b.finish('w', attemptOn(b, 'w'))
  t.equal(b.of('start').at(-1)?.start.operationName, warm[0])
  b.pass(100, ['w'])
  b.finish('w', attemptOn(b, 'w'))
  t.equal(b.of('start').at(-1)?.start.operationName, warm[1])
  b.pass(100, ['w'])
  b.finish('w', attemptOn(b, 'w'))
  t.equal(b.of('start').at(-1)?.start.operationName, first, 'it was passed over for 200 ms')
})

t.test('nothing waits for a worker that is gone, drains, failed it, or dropped the image', async (t) => {
  const cases: readonly ((b: Bench) => void)[] = [
    (b) => b.do(b.machine.workerDisconnected(b.nowMs, 'warm')),
    (b) => b.do(b.machine.drainWorker(b.nowMs, 'warm') ?? []),
    (b) => b.do(b.machine.warm(b.nowMs, 'warm', [], [imageKey(X)])),
    (b) => b.do(b.machine.health(b.nowMs, 'warm', 'no rights')),
  ]
  for (const spoil of cases) {
    const b = bench()
    withImages(b, 'warm', 1, X)
    withImages(b, 'cold', 1)
    b.enqueue(image(X))
    spoil(b)
    b.enqueue(image(X))
    t.equal(whereRan(b).at(-1), 'cold')
  }
})

t.test('0 of warm_worker_wait_ms: no action waits, and a worker takes what is next', async (t) => {
  const b = new Bench({ supportedPlatformProperties, warmWorkerWaitMs: 0 })
  withImages(b, 'warm', 1, X)
  withImages(b, 'cold', 1)
  b.enqueue(image(X))
  b.enqueue(image(X))
  t.same(whereRan(b), ['warm', 'cold'])
  const next = b.enqueue(image(Y))
  b.enqueue(image(X))
  b.finish('warm', attemptOn(b, 'warm'))
  t.equal(b.of('start').at(-1)?.start.operationName, next)
})

t.test('what a worker waits for before it begins is the reason why its action waits', async (t) => {
  const b = bench()
  withImages(b, 'w', 1)
  const name = b.enqueue(image(X))
  const text = 'the image example.com/x@sha256:… is being fetched on its worker, 120 MB so far'
  b.do(b.machine.progress(b.nowMs, 'w', attemptOn(b, 'w'), 0, text))
  t.equal(why(b, name), text)
  b.do(b.machine.progress(b.nowMs, 'w', attemptOn(b, 'w'), 1))
  t.equal(why(b, name), '')
})

t.test('a worker tells a bounded number of keys, the newest stay', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1)
  b.do(
    b.machine.warm(
      0,
      'warm',
      Array.from({ length: 10_001 }, (_, index) => `image:${index}`),
      [],
    ),
  )
  const [worker] = b.machine.inspect().workers.all
  t.equal(worker?.warm.size, 10_000)
  t.notOk(worker?.warm.has('image:0'))
  b.do(b.machine.warm(0, 'warm', ['', 'x'.repeat(301)], []))
  t.equal(worker?.warm.size, 10_000)
})

t.test('an action goes to a worker whose persistent worker it can use, and waits for it for a moment', async (t) => {
  const b = bench()
  const [KEY, OTHER] = ['a'.repeat(64), 'b'.repeat(64)]
  const asking = (key: string): Pairs => [['persistentWorkerKey', key]]
  const toolKey = (key: string, instanceName = ''): string =>
    warmKeyOf({ instanceName, properties: asking(key).map(([name, value]) => ({ name, value })) }) ?? ''
  withImages(b, 'cold', 1)
  withImages(b, 'warm', 1)
  b.do(b.machine.warm(b.nowMs, 'warm', [toolKey(KEY)], []))
  b.enqueue(asking(KEY))
  t.same(whereRan(b), ['warm'])
  const second = b.enqueue(asking(KEY))
  t.match(
    why(b, second),
    /waits for 200 ms at most for a worker that has its persistent worker ready \(warm runs 1 of 1\)/,
  )
  b.enqueue(asking(OTHER))
  t.same(whereRan(b), ['warm', 'cold'], 'an action of another tool does not wait')
  t.not(toolKey(KEY), toolKey(KEY, 'other'), 'another instance has its own processes')
})

const rooted = (root: string, command = root, program = 'cc'): Partial<ExecutionRequest> => {
  const digest = (text: string): Digest => Digest.of(Buffer.from(text), digestFunctions.SHA256)
  return { rootKeys: rootKeysOf({ instanceName: '', inputRoot: digest(root), command: digest(command), program }) }
}
const keep = (b: Bench, id: string, { rootKeys = [] }: Partial<ExecutionRequest>): void =>
  void b.do(b.machine.warm(b.nowMs, id, rootKeys, []))

t.test(
  'an action goes to the worker that keeps its input root, else to one that keeps that of its command, or of its kind',
  async (t) => {
    const b = bench()
    for (const id of ['kind', 'command', 'root', 'cold']) b.worker(id, [], 3)
    keep(b, 'kind', rooted('r1', 'c1'))
    keep(b, 'command', rooted('r2', 'c2'))
    keep(b, 'root', rooted('r3', 'c3'))
    b.enqueue([], rooted('r3', 'c9'))
    b.enqueue([], rooted('r9', 'c2'))
    b.enqueue([], rooted('r3', 'c2'))
    t.same(whereRan(b), ['root', 'command', 'root'])
    b.enqueue([], rooted('r9', 'c9', 'javac'))
    t.equal(whereRan(b).at(-1), 'kind', 'nothing is kept of its kind: to the one that was idle longest')
  },
)

t.test('an action waits for an input root of its kind, but not for its own where one of its kind is', async (t) => {
  const b = bench()
  b.worker('warm', [], 1)
  b.worker('cold', [], 1)
  keep(b, 'warm', rooted('r1'))
  b.enqueue([], rooted('r1'))
  const second = b.enqueue([], rooted('r2'))
  t.same(whereRan(b), ['warm'])
  t.equal(
    why(b, second),
    'it waits for 200 ms at most for a worker that has an input root like its own ready (warm runs 1 of 1); 0 others wait, 0 of them of its instance',
  )
  b.pass(200)
  t.same(whereRan(b), ['warm', 'cold'])
  b.finish('cold', attemptOn(b, 'cold'))
  keep(b, 'cold', rooted('r2'))
  b.enqueue([], rooted('r1'))
  t.same(whereRan(b), ['warm', 'cold', 'cold'], 'its own root is at the busy one')
})

t.test('an action waits for its image although a worker with room has an input root of its kind', async (t) => {
  const b = bench()
  withImages(b, 'warm', 1, X)
  withImages(b, 'rooted', 1)
  keep(b, 'warm', rooted('r1'))
  keep(b, 'rooted', rooted('r1'))
  b.enqueue(image(X), rooted('r1'))
  const second = b.enqueue(image(X), rooted('r1'))
  t.same(whereRan(b), ['warm'])
  t.match(why(b, second), new RegExp(`for a worker that has image:${X} ready \\(warm runs 1 of 1\\)`))
  b.finish('rooted', 'unknown')
  t.same(whereRan(b), ['warm'], 'what has room is not what it waits for')
  b.finish('warm', attemptOn(b, 'warm'))
  t.same(whereRan(b), ['warm', 'warm'])
})

t.test('a worker takes the action whose root it keeps before another of the same build', async (t) => {
  const b = bench()
  b.worker('w', [], 1)
  keep(b, 'w', rooted('r1'))
  b.enqueue([], rooted('r9'))
  const other = b.enqueue([], rooted('r2'))
  const own = b.enqueue([], rooted('r1'))
  b.finish('w', attemptOn(b, 'w'))
  t.equal(b.of('start').at(-1)?.start.operationName, own)
  b.finish('w', attemptOn(b, 'w'))
  t.equal(b.of('start').at(-1)?.start.operationName, other)
})

t.test('names of input roots say nothing of other instances and scopes', async (t) => {
  const digest = Digest.of(Buffer.from('root'), digestFunctions.SHA256)
  const facts = { inputRoot: digest, command: digest, program: 'cc' }
  const all = [
    rootKeysOf({ instanceName: 'a', ...facts }),
    rootKeysOf({ instanceName: 'b', ...facts }),
    rootKeysOf({ instanceName: 'a', scope: 'branch', ...facts }),
  ].flat()
  t.equal(new Set(all).size, 9)
  for (const key of all) t.match(key, /^(root|command|kind):[0-9a-f]{32}$/)
})

t.test('a worker of very many that hold the same is found without looking at all of them', async (t) => {
  const b = bench()
  for (let at = 0; at < 1_000; at++) {
    b.worker(`w${at}`, [], 1)
    keep(b, `w${at}`, rooted(`r${at}`))
  }
  b.enqueue([], rooted('r999'))
  t.same(whereRan(b), ['w999'], 'few hold the root itself')
  let looked = 0
  const { holders } = b.machine.inspect().dispatch
  for (const _ of holders.of([{ key: rooted('x').rootKeys?.[2] ?? '', worth: 1 }])) looked++
  t.equal(looked, 64)
})
