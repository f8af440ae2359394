import t from 'tap'
import { ProgressStage } from '../../../src/proto/generated/remexec.worker.v1.js'
import { beginStart } from '../../../src/worker/command/starts.js'
import { setUp, sh } from './runner-set-up.js'

/** The start of another program, in progress until the test ends it. */
const startUnderWay = () => {
  let end = (): void => {}
  const over = beginStart(() => new Promise<void>((resolve) => (end = resolve)))
  return { end: () => void end(), over }
}

t.test('a command with an executable input waits for starts that began before the file was complete', async (t) => {
  const { start, action, store } = await setUp(t)
  const digest = store.keep('#!/bin/sh\nexit 0\n').toMessage()
  const roots = [
    { files: [{ name: 'program', digest, isExecutable: true }] },
    { files: [{ name: 'program', digest, nodeProperties: { unixMode: { value: 0o744 } } }] },
  ]
  for (const root of roots) {
    const other = startUnderWay()
    let stage = 0
    const onProgress = (now: number) => {
      stage = now
    }
    const outcome = start(action(sh('./program'), root), { onProgress })
    const { executeResponse } = await start(action(sh('cat program'), { files: [{ name: 'program', digest }] }))
    t.equal(executeResponse?.result?.exitCode, 0, 'one without does not')
    t.not(stage, ProgressStage.RUNNING)
    other.end()
    t.equal((await outcome).executeResponse?.result?.exitCode, 0)
    t.equal(stage, ProgressStage.RUNNING)
  }
})

t.test(
  'an output that was copied to the store becomes visible to other workers only when no start has it open',
  async (t) => {
    const { start, action, store } = await setUp(t)
    const output = (script: string) => action({ ...sh(`yes ${script} | head -n 50000 > out`), outputPaths: ['out'] })
    const linked = action({ ...sh('yes | head -n 50000 > out; ln out other'), outputPaths: ['out'] })
    const other = startUnderWay()
    let outcome: ReturnType<typeof start> | undefined
    await new Promise<void>((resolve) => {
      outcome = start(linked, { onProgress: (stage) => stage === ProgressStage.UPLOADING_OUTPUTS && resolve() })
    })
    for (let text = 0; text < 10; text++) await start(output(`${text}`))
    t.equal(store.written.length, 10, 'moved files become visible immediately')
    other.end()
    t.equal((await outcome)?.executeResponse?.result?.exitCode, 0)
    t.equal(store.written.length, 11)
  },
)
