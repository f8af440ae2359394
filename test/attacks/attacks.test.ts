import t from 'tap'
import { KINDS } from '../../src/ledger/kinds.js'
import { attacks } from './attacks.js'
import { survives } from './survives.js'

// The quick attacks; attacks.nightly.ts runs the others.

const MIB = 1024 * 1024

/** What docs/operation.md says that clients can make the server hold: parked uploads are on disk, outputs in workers. */
const ELSEWHERE: readonly string[] = ['parked', 'outputs', 'tool_messages', 'inputs']
const sumMib = Object.entries(KINDS).reduce(
  (sum, [name, { maxBytes }]) => sum + (ELSEWHERE.includes(name) ? 0 : maxBytes / MIB),
  0,
)

t.equal(sumMib, 3648, 'the sum in docs/operation.md')

// A server for each attack: half a minute on two cores, and more with other work.
t.setTimeout(600_000)

survives(
  t,
  attacks.filter(({ isQuick }) => isQuick),
)
