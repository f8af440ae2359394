import t from 'tap'
import { lawfulVariants } from '../../../conformance/mutate/lawful.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { blameNone, seeEach } from './judging.js'

// All mutations. Whether the lists are complete is checked for each change, in mutations.test.ts.
// For changes in: conformance

t.setTimeout(1_800_000)

t.test('servers that use the freedom of the specification fail no row', (t) => blameNone(t, lawfulVariants))

t.test('each mutation is seen by its checks, and by none of them without it', (t) => seeEach(t, mutations))
