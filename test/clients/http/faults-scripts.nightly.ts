import t from 'tap'
import { meetsFaults, NEVER } from './faults.js'
import { moon } from './tools/moon.js'
import { nx } from './tools/nx.js'
import { turbo } from './tools/turbo.js'

// For changes in: test/clients/http/faults.ts, test/clients/http/faulty.ts

t.setTimeout(900_000)

meetsFaults(t, turbo, NEVER)
meetsFaults(t, moon, NEVER)
meetsFaults(t, nx, {
  code: 1,
  reads: [401, 403, 409, 413, 500, 'refused', 'garbage', 'truncated'],
  writes: [401, 404, 413, 500, 'garbage', 'truncated'],
})
