import t from 'tap'
import { meetsFaults, NEVER } from './faults.js'
import { ccache, oldCcache } from './tools/ccache.js'
import { go } from './tools/go.js'
import { sccache } from './tools/sccache.js'

// For changes in: test/clients/http/faults.ts, test/clients/http/faulty.ts

t.setTimeout(900_000)

meetsFaults(t, ccache, NEVER)
meetsFaults(t, oldCcache, NEVER)
// Its server reads once when it starts, and does not start without an answer.
meetsFaults(t, sccache, { code: 2, reads: [401, 403, 409, 413, 500, 'refused', 'truncated'], writes: [] })
// The helper passes what it cannot upload on to go as an error.
meetsFaults(t, go, { code: 1, reads: [], writes: [401, 403, 404, 409, 413, 500, 'garbage', 'truncated'] })
