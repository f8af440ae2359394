import type { ElectionFacts } from '../scheduler/simple/meter.js'
import { type Description, type Instrument, observed, type Reading } from './instrument.js'

/** None in a process whose queues are its own. */
export class ElectionMetrics {
  readonly instruments: readonly Instrument[]
  readonly #elections: (() => ElectionFacts)[] = []

  constructor() {
    const of = (read: (facts: ElectionFacts) => number | undefined) => (): readonly Reading[] =>
      this.#elections.flatMap((election) => {
        const facts = election()
        const value = read(facts)
        return value === undefined ? [] : [{ labels: { scheduler_name: facts.scheduler }, value }]
      })
    this.instruments = [
      observed(
        'gauge',
        LEADS,
        of(({ leads }) => Number(leads)),
      ),
      observed(
        'gauge',
        TERM,
        of(({ term }) => term),
      ),
      observed(
        'gauge',
        SERVERS,
        of(({ servers }) => servers),
      ),
      observed(
        'gauge',
        ENGINE_SILENT,
        of(({ engineSilentMs }) => engineSilentMs / 1000),
      ),
      observed(
        'gauge',
        REBUILD,
        of(({ rebuildMs }) => rebuildMs && rebuildMs / 1000),
      ),
      observed(
        'counter',
        OFFICES,
        of(({ offices }) => offices),
      ),
      observed(
        'counter',
        REFUSED,
        of(({ refused }) => refused),
      ),
      observed(
        'counter',
        HANDED_IN_AGAIN,
        of(({ handedInAgain }) => handedInAgain),
      ),
    ]
  }

  watch(election: () => ElectionFacts): void {
    this.#elections.push(election)
  }
}

const LEADS: Description = {
  name: 'svc_scheduler_leads',
  description: 'Whether this server leads the queue of a scheduler that several servers have: 1 on one of them.',
  unit: '1',
}

const TERM: Description = {
  name: 'svc_scheduler_term',
  description: 'The number of the term of the present leader; 0 if none is known.',
  unit: '1',
}

const SERVERS: Description = {
  name: 'svc_scheduler_servers',
  description: 'Servers that are joined to this one, which leads them, itself among them.',
  unit: '{server}',
}

const ENGINE_SILENT: Description = {
  name: 'svc_scheduler_engine_silence',
  description: 'Time since the engine of the election answered this server.',
  unit: 's',
}

const REBUILD: Description = {
  name: 'svc_scheduler_rebuild_duration',
  description: 'How long this leader waited until all servers had told what their clients wait for.',
  unit: 's',
}

const OFFICES: Description = {
  name: 'svc_scheduler_offices_total',
  description: 'How often this server was elected.',
  unit: '1',
}

const REFUSED: Description = {
  name: 'svc_scheduler_refused_leaders_total',
  description: 'Leaders of earlier terms that this server did not obey.',
  unit: '1',
}

const HANDED_IN_AGAIN: Description = {
  name: 'svc_scheduler_handed_in_again_total',
  description:
    'Operations of this server that were handed in once more, to the next leader or after a lost connection.',
  unit: '1',
}
