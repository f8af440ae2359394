import t from 'tap'
import { attacks } from './attacks.js'
import { everyDoor } from './every-door.js'
import { survives } from './survives.js'

// The attacks on a server whose gRPC is served by service threads, beside HTTP caches on the same port.
// For changes in: src/server, src/assembly/threads, src/ledger

t.setTimeout(900_000)

const THREADS = 2

for (const protocol of ['HTTP', 'gRPC'] as const)
  t.test(`every door of ${protocol}`, (t) => everyDoor(t, protocol, THREADS))

survives(t, attacks, THREADS)
