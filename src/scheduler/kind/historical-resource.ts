import { readFile } from 'node:fs/promises'
import { StatusError } from '../../base/status-error.js'
import type { HistoricalResourceSchedulerOptions } from '../../config/config.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import { ForwardingScheduler } from '../forwarding.js'
import type { SchedulerKind } from '../kind.js'
import type { ExecutionRequest, Scheduler } from '../scheduler.js'

/** Resources that earlier actions of a target or mnemonic needed, in the units of the properties they raise. */
interface Hint {
  readonly cpuCount: number | undefined
  readonly memoryKb: number | undefined
}

/**
 * Raises the amounts that an action requests to what earlier runs needed. Hints are read from a file, which
 * must be valid at start. If a later refresh fails, the scheduler logs a warning and keeps the previous
 * hints.
 */
export const historicalResource: SchedulerKind<HistoricalResourceSchedulerOptions> = {
  build: async (options, { name, child, clock, log, resources }) => {
    const { hints_file: path, refresh_interval_s: everyS } = options
    const next = await child(options.scheduler)
    const scheduler = new HistoricalResource(next, options, await readHints(path))
    const refresh = async (): Promise<void> => {
      try {
        scheduler.hints = await readHints(path)
      } catch (error) {
        log.warn('hints could not be read, the ones before stay', { scheduler: name, error: StatusError.from(error) })
      }
    }
    if (everyS > 0) resources.add(`scheduler ${name}: hints`, clock.every(everyS * 1000, refresh))
    return scheduler
  },
}

class HistoricalResource extends ForwardingScheduler {
  hints: ReadonlyMap<string, Hint>
  readonly #options: HistoricalResourceSchedulerOptions

  constructor(next: Scheduler, options: HistoricalResourceSchedulerOptions, hints: ReadonlyMap<string, Hint>) {
    super(next)
    this.#options = options
    this.hints = hints
  }

  override incoming(request: ExecutionRequest): ExecutionRequest {
    const { target = '', mnemonic = '' } = request
    const hint = [keyOf(target, mnemonic), keyOf(target, ''), keyOf('', mnemonic)].find((key) => this.hints.has(key))
    const { cpuCount, memoryKb } = (hint !== undefined && hint !== NOBODY && this.hints.get(hint)) || NO_HINT
    const { cpu_property_name, memory_property_name } = this.#options
    const withCpu = raised(request.properties, cpu_property_name, cpuCount)
    return { ...request, properties: raised(withCpu, memory_property_name, memoryKb) }
  }
}

const raised = (
  properties: readonly PlatformProperty[],
  name: string,
  amount: number | undefined,
): readonly PlatformProperty[] => {
  if (amount === undefined) return properties
  const asked = properties.filter((property) => property.name === name).map(({ value }) => Number(value))
  // If a requested value is no number, the next scheduler rejects it. If it is large enough, it stays.
  if (asked.some((value) => !(value < amount))) return properties
  return [...properties.filter((property) => property.name !== name), { name, value: String(amount) }]
}

const keyOf = (target: string, mnemonic: string): string => JSON.stringify([target, mnemonic])
const NOBODY = keyOf('', '')
const NO_HINT: Hint = { cpuCount: undefined, memoryKb: undefined }

/** Reads the hints of a file, by target and mnemonic. Fails with INVALID_ARGUMENT that names the fault. */
export const readHints = async (path: string): Promise<ReadonlyMap<string, Hint>> => {
  const text = await readFile(path, 'utf8')
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new StatusError('INVALID_ARGUMENT', `${path} is no JSON: ${(error as Error).message}`)
  }
  const list = isObject(content) ? content['hints'] : content
  if (!Array.isArray(list)) throw new StatusError('INVALID_ARGUMENT', `${path}: expected a list, or {"hints": [...]}`)
  return new Map(list.map((entry, index) => hintOf(entry, `${path}: hint ${index}`)))
}

const hintOf = (entry: unknown, where: string): [string, Hint] => {
  if (!isObject(entry)) throw new StatusError('INVALID_ARGUMENT', `${where}: expected an object`)
  const unknown = Object.keys(entry).find((key) => !FIELDS.has(key))
  if (unknown !== undefined) {
    const expected = [...FIELDS].join(', ')
    throw new StatusError('INVALID_ARGUMENT', `${where}: unknown key ${JSON.stringify(unknown)}, expected ${expected}`)
  }
  const [target, mnemonic] = [textOf(entry, 'target_id', where), textOf(entry, 'action_mnemonic', where)]
  if (target === '' && mnemonic === '') {
    throw new StatusError('INVALID_ARGUMENT', `${where}: expected a target_id, an action_mnemonic or both`)
  }
  const memoryMib = amountIn(entry, 'memory_mib', where)
  const memoryKb = amountIn(entry, 'memory_kb', where) ?? (memoryMib === undefined ? undefined : memoryMib * 1024)
  return [keyOf(target, mnemonic), { cpuCount: amountIn(entry, 'cpu_count', where), memoryKb }]
}

const FIELDS: ReadonlySet<string> = new Set(['target_id', 'action_mnemonic', 'cpu_count', 'memory_kb', 'memory_mib'])

const textOf = (entry: Readonly<Record<string, unknown>>, key: string, where: string): string => {
  const value = entry[key] ?? ''
  if (typeof value === 'string') return value
  throw new StatusError('INVALID_ARGUMENT', `${where}: ${key}: expected text`)
}

/** A number, rounded up, because `minimum` properties are whole numbers. */
const amountIn = (entry: Readonly<Record<string, unknown>>, key: string, where: string): number | undefined => {
  const value = entry[key] ?? undefined
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(Math.ceil(value))) return Math.ceil(value)
  throw new StatusError('INVALID_ARGUMENT', `${where}: ${key}: expected a number, 0 or more`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
