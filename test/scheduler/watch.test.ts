import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { OperationState, Stage } from '../../src/scheduler/request.js'
import { Watch } from '../../src/scheduler/watch.js'

const response = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(Buffer.alloc(0))
const actionDigest = Digest.of(Buffer.from('action'), digestFunctions.SHA256)

const state = (stage: Stage): OperationState => ({
  name: 'operations/a',
  instanceName: '',
  actionDigest,
  stage,
  outcome: stage === 'COMPLETED' ? { response } : undefined,
})

const stages = async (watch: Watch, onStage: (stage: Stage) => void = () => {}): Promise<Stage[]> => {
  const seen: Stage[] = []
  for await (const { stage } of watch.states(new AbortController().signal)) {
    seen.push(stage)
    onStage(stage)
  }
  return seen
}

t.test('a stage that ends at once is not sent, the outcome is', async (t) => {
  const watch = new Watch(state('QUEUED'))
  const seen = stages(watch)
  await new Promise(setImmediate)
  watch.publish(state('EXECUTING'))
  // Lets the reader run, but no timer.
  for (let turn = 0; turn < 100; turn++) await undefined
  watch.publish(state('COMPLETED'))
  t.same(await seen, ['QUEUED', 'COMPLETED'])
})

t.test('a stage that lasts is sent before the next one', async (t) => {
  const watch = new Watch(state('CACHE_CHECK'))
  const next: Partial<Record<Stage, Stage>> = { CACHE_CHECK: 'QUEUED', QUEUED: 'EXECUTING', EXECUTING: 'COMPLETED' }
  const seen = await stages(watch, (stage) => {
    const following = next[stage]
    if (following !== undefined) watch.publish(state(following))
  })
  t.same(seen, ['CACHE_CHECK', 'QUEUED', 'EXECUTING', 'COMPLETED'])
})

t.test('of several quick stages only the latest is sent', async (t) => {
  const watch = new Watch(state('CACHE_CHECK'))
  const seen = await stages(watch, (stage) => {
    if (stage === 'CACHE_CHECK')
      for (const following of ['QUEUED', 'EXECUTING'] as const) watch.publish(state(following))
    if (stage === 'EXECUTING') watch.publish(state('COMPLETED'))
  })
  t.same(seen, ['CACHE_CHECK', 'EXECUTING', 'COMPLETED'])
})
