import type { SchedulerActivity, SchedulerMeter } from '../scheduler/simple/meter.js'
import { Count, type Description, type Instrument, observed } from './instrument.js'

type Told = Parameters<SchedulerMeter['roots']>[0]

const WAYS = ['equal', 'changed', 'fresh'] as const
const FILES = { placed: 'placedFiles', untouched: 'untouchedFiles' } as const

/** What the workers of all schedulers tell of the input roots of actions, and of those that they keep. */
export class RootMetrics {
  readonly instruments: readonly Instrument[]
  readonly #roots = new Map(WAYS.map((way) => [way, new Count({ input_root: way })]))
  readonly #files = new Map(Object.keys(FILES).map((what) => [what, new Count({ input_files: what })]))

  /** `here`: whether this process has a queue, and its workers. */
  constructor(here: () => readonly SchedulerActivity[]) {
    const kept = (): number =>
      here()
        .flatMap((activity) => activity.workers)
        .reduce((total, { roots }) => total + (roots?.kept ?? 0), 0)
    this.instruments = [
      observed('counter', ROOTS, () => this.#roots.values()),
      observed('counter', ROOT_FILES, () => this.#files.values()),
      observed('gauge', KEPT, () => (here().length === 0 ? [] : [{ labels: {}, value: kept() }])),
    ]
  }

  add(told: Told): void {
    for (const way of WAYS) this.#roots.get(way)?.add(told[way])
    for (const [what, field] of Object.entries(FILES)) this.#files.get(what)?.add(told[field])
  }
}

const ROOTS: Description = {
  name: 'svc_input_roots_total',
  description:
    'Input roots of actions at workers with directory_cache: equal to a kept one, changed from a similar one, or made anew.',
  unit: '{root}',
}

const ROOT_FILES: Description = {
  name: 'svc_input_root_files_total',
  description: 'Files of these input roots that were linked or copied, and that a kept root had already.',
  unit: '{file}',
}

const KEPT: Description = {
  name: 'svc_kept_input_roots',
  description: 'Input roots that the connected workers keep.',
  unit: '{root}',
}
