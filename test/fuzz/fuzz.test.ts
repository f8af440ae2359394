import t from 'tap'
import { fuzz } from './run.js'
import { targets } from './targets.js'

// Seconds of what `npm run fuzz` does for minutes. Each input that it finds goes to fixtures/fuzz/NAME and is tried first here.

const RUNS = 1500
/** A new difference may be a fault of the other server, so the test run uses a fixed seed; the nightly run does not. */
const SEEDS: Readonly<Record<string, number>> = { 'http2-sessions': 1 }

for (const name of Object.keys(targets)) {
  t.test(`${name}: whatever comes is taken or refused as it should be`, async (t) => {
    const seed = SEEDS[name]
    const count = await fuzz(name, { runs: RUNS, ...(seed !== undefined && { seed }) })
    t.equal(count, RUNS)
  })
}
