import { constants } from 'node:os'
import { resolve } from 'node:path'
import type { Layout } from '../adopt/found.js'
import type { Target } from '../adopt/import.js'
import { LAYOUTS, layoutOf } from '../adopt/layouts.js'
import { type Plan, planImport } from '../adopt/plan.js'
import { Tally } from '../adopt/tally.js'
import { type InstanceStores, storesOf } from '../assembly/instance-stores.js'
import { systemClock } from '../base/clock.js'
import { counted, decimalSize } from '../base/decimal-size.js'
import { advice, errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { guardedInterval } from '../base/timers.js'
import type { Config, StoreConfig } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { limitBytes } from '../config/store-path.js'
import { processLog } from '../process/process-log.js'
import { firstStopSignal } from '../process/stop-signals.js'
import { type Call, internalCall } from '../rpc/call.js'
import { type Arguments, type Command, type Console, textOption, UsageError } from './command.js'

/** How often progress is printed: in place on a terminal, else as a line. */
const TERMINAL_PERIOD_MS = 500
const LINE_PERIOD_MS = 10_000

export const importCommand: Command = {
  name: 'import',
  usage: [
    ['[--dry-run] CONFIG FOLDER', 'copy the folder of another cache into the stores of CONFIG'],
    ['[--dry-run] CONFIG FOLDER --results FOLDER', 'the same for NativeLink, whose action cache has its own folder'],
  ],
  details: [
    ['--from NAME', `what wrote FOLDER: ${LAYOUTS.map(({ name }) => name).join(' or ')} (default: recognised)`],
    ['--results FOLDER', 'the folder of action results, if FOLDER has none'],
    ['--instance NAME', 'the instance whose stores are filled (default: the one without a name)'],
    ['--dry-run', 'list what would be copied, and open no store'],
  ],
  options: {
    from: { type: 'string' },
    results: { type: 'string' },
    instance: { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  run: async (args, console) => {
    const [path, folder, ...more] = args.words
    if (path === undefined || folder === undefined || more.length > 0)
      throw new UsageError(`expected CONFIG and FOLDER, found ${args.words.length} arguments`)
    const config = await loadConfig(path, { learn: (found) => void console.secrets.learn(found) })
    const instance = textOption(args, 'instance') ?? ''
    const sources = await sourcesOf(folder, args)
    const plans = await plansOf(sources, storesOf(config, instance), config)
    for (const plan of plans) console.print(planText(plan))
    if (args.options['dry-run'] === true) {
      console.print('nothing was copied (--dry-run)\n')
      return refusedText(plans, 0, console)
    }
    return runImport(config, instance, plans, console)
  },
}

interface Source {
  readonly kind: 'blobs' | 'results'
  readonly folder: string
  readonly layout: Layout
}

interface PlannedSource extends Plan, Source {
  readonly storeName: string
  readonly limit: number
}

const sourcesOf = async (folder: string, args: Arguments): Promise<Source[]> => {
  const results = textOption(args, 'results')
  const from = textOption(args, 'from')
  const layout = await layoutFor(folder, from)
  const blobs: Source = { kind: 'blobs', folder, layout }
  if (results !== undefined)
    return [blobs, { kind: 'results', folder: results, layout: await layoutFor(results, from) }]
  return layout.holdsResults ? [blobs, { kind: 'results', folder, layout }] : [blobs]
}

const layoutFor = async (folder: string, from: string | undefined): Promise<Layout> => {
  const names = LAYOUTS.map(({ name }) => name)
  const named = LAYOUTS.find(({ name }) => name === from)
  if (from !== undefined && named === undefined) throw new UsageError(`--from ${from}: expected ${names.join(' or ')}`)
  try {
    const found = await layoutOf(folder)
    if (named !== undefined || found !== undefined) return (named ?? found) as Layout
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    throw new StatusError('FAILED_PRECONDITION', `${folder}: ${inWords(error)}${advice(error)}`)
  }
  const expected = 'expected cas.v2 (bazel-remote, its --dir) or d (NativeLink, a content_path) in it'
  throw new StatusError('FAILED_PRECONDITION', `${folder} is no folder of a known cache: ${expected}`)
}

const plansOf = async (
  sources: readonly Source[],
  stores: InstanceStores,
  { stores: all }: Config,
): Promise<PlannedSource[]> => {
  const plans: PlannedSource[] = []
  for (const source of sources) {
    const [store, storeName] = targetOf(source, stores)
    const limit = limitBytes(store, all)
    const plan = await planImport(source.folder, { ...source, limitBytes: limit })
    plans.push({ ...source, ...plan, storeName, limit })
  }
  return plans
}

const targetOf = (source: Source, stores: InstanceStores): readonly [StoreConfig, string] => {
  const { cas, casName, results, resultsName } = stores
  if (source.kind === 'blobs') return [cas, casName]
  if (results !== undefined && resultsName !== undefined) return [results, resultsName]
  throw new StatusError('FAILED_PRECONDITION', 'no server of the configuration has an `ac` for this instance')
}

const planText = ({ kind, folder, layout, files, bytes, leftOut, leftOutBytes, ...rest }: PlannedSource) => {
  const { storeName, limit, unreadable } = rest
  const room = Number.isFinite(limit) ? `at most ${decimalSize(limit)}` : 'no limit'
  const noun = kind === 'blobs' ? 'blob' : 'result'
  const head = `${resolve(folder)} (${layout.name}): ${counted(files.length, noun)}, ${decimalSize(bytes)}, to the store ${storeName} (${room})\n`
  const lines = unreadable.named.map((line) => `  ${line}\n`)
  const more = unreadable.count - unreadable.named.length
  const skipped = [...lines, ...(more > 0 ? [`  and ${more} more that cannot be looked at\n`] : [])].join('')
  if (leftOut.length === 0) return head + skipped
  const left = `${counted(leftOut.length, noun)}, ${decimalSize(leftOutBytes)}`
  return `${head}${skipped}  left out: the least recently used ${left}, because max_bytes of the store has no room for them\n`
}

/** The last line and the status: 1 if something of the folder was not taken over because of what it is. */
const refusedText = (plans: readonly PlannedSource[], refused: number, { print }: Console): number => {
  const unreadable = plans.reduce((sum, plan) => sum + plan.unreadable.count, 0)
  const parts = [refused > 0 ? `${refused} refused` : '', unreadable > 0 ? `${unreadable} cannot be looked at` : '']
  const text = parts.filter((part) => part !== '').join(', ')
  if (text !== '') print(`${text}\n`)
  return text === '' ? 0 : 1
}

/** Copies what was planned until it is done or a signal stops it. */
const runImport = async (
  config: Config,
  instance: string,
  plans: readonly PlannedSource[],
  console: Console,
): Promise<number> => {
  const abort = new AbortController()
  const stopSignal = firstStopSignal()
  const stop = (): void => abort.abort()
  stopSignal.then(stop, stop)
  const log = processLog('warn', process.env, console.errors)
  // Imported here, because a plan does not need the modules of the stores, and other commands should be fast.
  const { openInstance } = await import('../assembly/open-instance.js')
  const opened = await openInstance(config, instance, { clock: systemClock, log, secrets: console.secrets })
  const call = internalCall({ signal: abort.signal, log, instanceName: instance })
  try {
    let refused = 0
    for (const plan of plans) refused += await importOne(plan, plans, opened, call, console)
    return refusedText(plans, refused, console)
  } catch (error) {
    if (!abort.signal.aborted) throw error
  } finally {
    await opened.close()
  }
  console.print('stopped: the same command goes on from here\n')
  return 128 + constants.signals[(await stopSignal).signal]
}

const importOne = async (
  plan: PlannedSource,
  plans: readonly PlannedSource[],
  target: Target,
  call: Call,
  console: Console,
): Promise<number> => {
  const tally = new Tally()
  const endProgress = showProgress(plan, tally, console)
  try {
    const { importBlobs, importResults } = await import('../adopt/import.js')
    if (plan.kind === 'blobs') await importBlobs(plan.files, target, tally, call)
    else await importResults(plan.files, target, actionSizes(plans), tally, call)
    return tally.counts.refused
  } finally {
    endProgress()
    console.print(resultText(plan, tally))
  }
}

/** The sizes of all blobs by their hash; an action is one of them. */
const actionSizes = (plans: readonly PlannedSource[]): Map<string, number> =>
  new Map(
    plans
      .filter(({ kind }) => kind === 'blobs')
      .flatMap(({ files, leftOut }) => [...leftOut, ...files])
      .map(({ hash, sizeBytes }) => [hash, sizeBytes ?? 0]),
  )

/** Prints how far the copying is, until the returned function is called. */
const showProgress = ({ kind, files, bytes }: PlannedSource, tally: Tally, { errors }: Console): (() => void) => {
  const [start, end] = errors.isTTY ? ['\r', '\u001b[K'] : ['', '\n']
  const print = (): void => {
    const done = `${tally.done.toLocaleString('en-US')} of ${counted(files.length, kind.slice(0, -1))}`
    errors.write(`${start}${done}, ${decimalSize(tally.importedBytes)} of ${decimalSize(bytes)} copied${end}`)
    errors.flush()
  }
  const timer = guardedInterval(print, errors.isTTY ? TERMINAL_PERIOD_MS : LINE_PERIOD_MS)
  return () => {
    clearInterval(timer)
    if (errors.isTTY) errors.write('\r\u001b[K')
  }
}

const resultText = ({ kind, storeName }: PlannedSource, { counts, importedBytes, refusals }: Tally): string => {
  const noun = kind.slice(0, -1)
  const rest = [
    counts.present > 0 ? `${counted(counts.present, noun)} already there` : '',
    counts.vanished > 0 ? `${counted(counts.vanished, noun)} gone meanwhile` : '',
    counts.refused > 0 ? `${counted(counts.refused, noun)} refused:` : '',
  ].filter((text) => text !== '')
  const head = `${storeName}: copied ${counted(counts.imported, noun)}, ${decimalSize(importedBytes)}`
  const more = counts.refused - refusals.length
  const lines = [...refusals, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => `  ${line}\n`)
  return `${[head, ...rest].join('; ')}\n${lines.join('')}`
}
