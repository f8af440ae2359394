import t from 'tap'
import { fuzz } from './run.js'
import { targets } from './targets.js'

// Seconds of what `npm run fuzz` does for minutes. Each input that it finds goes to fixtures/fuzz/NAME and is tried first here.

const RUNS = 1500

for (const name of Object.keys(targets)) {
  t.test(`${name}: whatever comes is taken or refused as it should be`, async (t) => {
    const count = await fuzz(name, { runs: RUNS })
    t.equal(count, RUNS)
  })
}
