import { constants } from 'node:os'
import { isStatus } from '../../base/status-error.js'
import type { Details, Failure, Test, TestAttempt } from '../../builds/detail/details.js'
import { hasFailed } from '../../builds/own/facts.js'
import type { OwnExecution } from '../../builds/own/record.js'
import { readAction, readCommand } from '../../content/action.js'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import type { Visit } from '../page.js'
import type { CasOf } from './blob-text.js'

/** How a command ended, and who says so. */
export interface Exit {
  /** Undefined if it did not end, or nobody said how. */
  readonly code: number | undefined
  readonly by: 'server' | 'client' | undefined
  /** In words, if there is more to say than the code. */
  readonly reason: string | undefined
}

/** The executions of a build by their targets, made once for each build. */
const byTarget = new WeakMap<Details, ReadonlyMap<string, readonly OwnExecution[]>>()

export const executionsFor = (details: Details, target: string): readonly OwnExecution[] => {
  let known = byTarget.get(details)
  if (known === undefined) {
    const made = new Map<string, OwnExecution[]>()
    for (const one of details.own.executions) {
      const same = made.get(one.target)
      if (same === undefined) made.set(one.target, [one])
      else same.push(one)
    }
    byTarget.set(details, made)
    known = made
  }
  return known.get(target) ?? []
}

export interface Joining {
  readonly visit: Visit
  readonly casOf: CasOf
}

/** More executions of one target are not told apart by what their Commands say. */
const MAX_COMMANDS = 20
/** Of a client that does not say the targets, such as Bazel 2: of failed ones, and of others. */
const MAX_UNNAMED = 100

/** The execution that a failed action of the events is; undefined if it did not run here. */
export const executionOf = async (
  { label, mnemonic, output }: Failure,
  details: Details,
  joining: Joining,
): Promise<OwnExecution | undefined> => {
  const mayRead = ({ instance }: OwnExecution) => joining.visit.may('read_ac', instance)
  const isOf = (one: OwnExecution) => mayRead(one) && (one.mnemonic || mnemonic) === mnemonic
  const named = executionsFor(details, label).filter(isOf)
  // Old clients do not say the target.
  const all = latest(named.length > 0 ? named : executionsFor(details, '').filter(mayRead))
  const failed = all.filter(hasFailed)
  const found = failed.length > 0 ? failed : all
  if (found.length <= 1 && named.length > 0) return found[0]
  // An action whose command ended well fails if an output is missing.
  const others = all.filter((one) => !hasFailed(one)).slice(-MAX_UNNAMED)
  const looked = named.length > 0 ? found.slice(0, MAX_COMMANDS) : [...failed.slice(-MAX_UNNAMED), ...others]
  for (const one of looked) {
    const command = await commandOf(one, joining)
    const paths = [...(command?.outputPaths ?? []), ...(command?.outputFiles ?? [])]
    if (output !== '' && paths.some((path) => path.endsWith(output) || output.endsWith(path))) return one
  }
  return undefined
}

/** The last execution of each action: one that failed may have been run again. */
export const latest = (executions: readonly OwnExecution[]): readonly OwnExecution[] => [
  ...new Map(executions.map((one) => [`${one.instance} ${one.action}`, one])).values(),
]

/** The mnemonic of Bazel's tests. What only writes their report has it too. */
const TEST = 'TestRunner'

/** The executions that the failed attempts of a test are, in the order of `attempts`. */
export const executionsOfTest = async (
  { label, shardCount }: Test,
  attempts: readonly TestAttempt[],
  details: Details,
  joining: Joining,
): Promise<readonly (OwnExecution | undefined)[]> => {
  const named = executionsFor(details, label).filter(({ mnemonic }) => mnemonic === TEST)
  const found = (named.length > 0 ? named : await unnamedOf(label, details, joining))
    .filter((one) => hasFailed(one) && joining.visit.may('read_ac', one.instance))
    .sort((a, b) => a.atMs - b.atMs)
  const places = new Map<OwnExecution, string>()
  if (shardCount > 1 || attempts.some(({ run }) => run > 1))
    for (const one of latest(found).slice(0, MAX_COMMANDS)) {
      const place = placeOf(await commandOf(one, joining))
      for (const same of found) if (same.action === one.action) places.set(same, place)
    }
  const left = [...found]
  return attempts.map(({ run, shard }) => {
    const place = places.size === 0 ? undefined : `${Math.max(1, run)} ${Math.max(1, shard)}`
    const at = left.findIndex((one) => place === undefined || places.get(one) === place)
    return at < 0 ? undefined : left.splice(at, 1)[0]
  })
}

/** Those of a client that does not say the targets: a test has its own in its environment. */
const unnamedOf = async (label: string, details: Details, joining: Joining): Promise<readonly OwnExecution[]> => {
  const failed = executionsFor(details, '').filter(
    (one) => hasFailed(one) && joining.visit.may('read_ac', one.instance),
  )
  const found: OwnExecution[] = []
  for (const one of failed.slice(-MAX_UNNAMED)) {
    const command = await commandOf(one, joining)
    if (command?.environmentVariables.some(({ name, value }) => name === 'TEST_TARGET' && value === label))
      found.push(one)
  }
  return found
}

/** Run and shard of a test, both from 1. */
const placeOf = (command: Command | undefined): string => {
  const variable = (name: string): number =>
    Number(command?.environmentVariables.find((one) => one.name === name)?.value ?? Number.NaN)
  return `${variable('TEST_RUN_NUMBER') || 1} ${(variable('TEST_SHARD_INDEX') || 0) + 1}`
}

/** The Commands of one page, which asks for some of them for each of its failures. */
const read = new WeakMap<Visit, Map<string, Promise<Command | undefined>>>()

/** Undefined if it is not kept, or the reader may not see it. */
export const commandOf = (one: OwnExecution, joining: Joining): Promise<Command | undefined> => {
  const commands = read.get(joining.visit) ?? new Map<string, Promise<Command | undefined>>()
  read.set(joining.visit, commands)
  const key = `${one.instance} ${one.action}`
  const command = commands.get(key) ?? commandIn(one, joining)
  commands.set(key, command)
  return command
}

const commandIn = async (
  { instance, action }: OwnExecution,
  { visit, casOf }: Joining,
): Promise<Command | undefined> => {
  const [digest, cas] = [Digest.ofKey(action), casOf(instance)]
  if (digest === undefined || cas === undefined || !visit.may('read_cas', instance)) return undefined
  visit.request.instanceName = instance
  try {
    const { commandDigest } = await readAction(cas, digest, visit.request)
    return await readCommand(cas, Digest.parse(commandDigest, digest.function), visit.request)
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}

/** How a command ended: as this server knows it, else as the client says. */
export const exitOf = (own: OwnExecution | undefined, said: number | undefined, status = ''): Exit => {
  if (own === undefined)
    return { code: said, by: said === undefined ? undefined : 'client', reason: reasonOf(said, status) }
  const { exitCode, outcome, reason, message } = own
  if (outcome !== 'failed') {
    const words = exitCode === 0 ? 'an output that it should make is missing' : reasonOf(exitCode, status)
    return { code: exitCode, by: 'server', reason: words }
  }
  const words = FAILURES[reason] ?? reason.toLowerCase().replaceAll('_', ' ')
  return { code: undefined, by: 'server', reason: message === undefined ? words : `${words}: ${message}` }
}

/** Codes with which actions fail, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  DEADLINE_EXCEEDED: 'timed out',
  FAILED_PRECONDITION: 'could not run',
  INVALID_ARGUMENT: 'the action is not valid',
  RESOURCE_EXHAUSTED: 'beyond a limit',
  UNAVAILABLE: 'no worker could run it to its end',
  ABORTED: 'no worker could run it to its end',
  CANCELLED: 'cancelled',
}

const SIGNAL_BASE = 128
/** Some numbers have two names: the second ones are historic. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number as number, name] as const)
    .reverse(),
)
const MEANINGS: Readonly<Record<string, string>> = {
  SIGKILL: 'often for want of memory',
  SIGSEGV: 'a wrong access to memory',
  SIGABRT: 'it aborted itself',
  SIGTERM: 'it was asked to end',
}

const reasonOf = (code: number | undefined, status: string): string | undefined => {
  if (status === 'timeout') return 'timed out'
  const signal = code === undefined ? undefined : SIGNALS.get(code - SIGNAL_BASE)
  if (signal !== undefined) {
    const meaning = MEANINGS[signal]
    return `ended by ${signal}${meaning === undefined ? '' : `, ${meaning}`}`
  }
  return status === 'remote failure' ? 'it could not run' : undefined
}
