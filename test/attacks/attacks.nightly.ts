import t from 'tap'
import { attacks } from './attacks.js'
import { survives } from './survives.js'

// The attacks that take long; attacks.test.ts runs the others for each change.
// For changes in: src/ledger, src/scheduler, src/server, src/service, src/stream/compression

// A server for each attack, and one that answers 300 times with 2 MB: minutes on two cores with other work.
t.setTimeout(600_000)

survives(
  t,
  attacks.filter(({ isQuick }) => !isQuick),
)
