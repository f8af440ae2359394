import t from 'tap'
import { runModel } from './model.js'

/** `REMEXEC_MODEL_FIRST` and `REMEXEC_MODEL_RUNS` choose others. */
export const runSeeds = (runs: number): void => {
  const first = Number(process.env['REMEXEC_MODEL_FIRST'] ?? 1)
  const count = Number(process.env['REMEXEC_MODEL_RUNS'] ?? runs)
  t.test(`${count} runs under faults end as runs without any, and nothing happens that must not`, async (t) => {
    let terms = 0
    for (let seed = first; seed < first + count; seed++) {
      const run = await runModel(seed)
      terms += run.terms
      if (run.violations.length > 0) t.fail(`seed ${seed}`, { ...run })
    }
    t.ok(terms >= 2 * count, `${terms} terms of leaders: a queue is taken over again and again`)
  })
}
