import type { Ledger } from '../ledger/ledger.js'
import { type Description, type Instrument, observed } from './instrument.js'

/** Memory that the process holds for clients, by kind. */
export const ledgerInstruments = (ledger: Ledger): readonly Instrument[] => {
  const kinds = Object.values(ledger.kinds)
  const series = (read: (kind: (typeof kinds)[number]) => number) => () =>
    kinds.map((kind) => ({ labels: { held_kind: kind.name }, value: read(kind) }))
  return [
    observed(
      'gauge',
      HELD,
      series(({ heldBytes }) => heldBytes),
    ),
    observed(
      'gauge',
      MAX,
      series(({ maxBytes }) => maxBytes),
    ),
    observed(
      'counter',
      LIMITED,
      series(({ limitedCount }) => limitedCount),
    ),
  ]
}

const HELD: Description = { name: 'svc_held_memory', description: 'Memory held for clients.', unit: 'By' }
const MAX: Description = { name: 'svc_held_max_memory', description: 'Maximum memory held for clients.', unit: 'By' }
const LIMITED: Description = {
  name: 'svc_held_limited_count_total',
  description: 'How often a bound was reached, so that a request was refused, delayed or dropped.',
  unit: '1',
}
