import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Command } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../../proto/time.js'
import { workingDirectory } from '../../reapi/command.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { PERSISTENT_WORKER_KEY, PERSISTENT_WORKER_PROTOCOL } from '../../reapi/persistent-worker.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { GroupLimits } from '../cgroup/action-group.js'
import type { InputFile, InputTree } from '../input/merkle-tree.js'
import { type SplitLine, splitLine } from './arguments.js'
import { Unsuited } from './fault.js'
import { type Protocol, protocolNamed, type WorkInput } from './protocol.js'

/** The node property of files that belong to the tool. */
const TOOL_INPUT = 'bazel_tool_input'

/** A persistent worker needs the digests of all inputs, never only some: a tool keeps what it has of files that are not named. */
const MAX_INPUTS = 50_000

/** What an action asks of a persistent worker. */
export interface Wanted extends SplitLine {
  readonly clientKey: string
  readonly protocol: Protocol
  readonly workingDirectory: string
  /** The files that make the tool. */
  readonly tools: readonly InputFile[]
}

const propertyOf = (properties: readonly PlatformProperty[], name: string): string | undefined =>
  properties.find((property) => property.name === name)?.value

/** Undefined if the action asks for no persistent worker. Throws Unsuited if it does and cannot have one. */
export const wantedBy = (
  command: Command,
  properties: readonly PlatformProperty[],
  tree: InputTree,
): Wanted | undefined => {
  const clientKey = propertyOf(properties, PERSISTENT_WORKER_KEY)
  if (clientKey === undefined || clientKey === '') return undefined
  const named = propertyOf(properties, PERSISTENT_WORKER_PROTOCOL)
  const protocol = protocolNamed(named)
  if (protocol === undefined)
    throw new Unsuited(
      `its ${PERSISTENT_WORKER_PROTOCOL} is ${JSON.stringify(named?.slice(0, 100))}, expected proto or json`,
    )
  const line = splitLine(command.arguments)
  if (line === undefined) throw new Unsuited('its command line has no params file, or nothing else')
  const tools = tree.files.filter(({ entry }) =>
    entry.nodeProperties?.properties.some(({ name }) => name === TOOL_INPUT),
  )
  if (tools.length === 0) throw new Unsuited(`none of its inputs has the node property ${TOOL_INPUT}`)
  if (tree.files.length > MAX_INPUTS) throw new Unsuited(`it has more than ${MAX_INPUTS} inputs`)
  return { ...line, clientKey, protocol, tools, workingDirectory: workingDirectory(command) }
}

/** Whatever else two actions must have in common to be run by one process. */
export interface KeyFacts {
  readonly instanceName: string
  /** Of the caller. */
  readonly scope: string
  readonly digestFunction: DigestFunction
  /** All variables of the process. */
  readonly environment: Readonly<Record<string, string>>
  /** Digest of the image that the process runs in; undefined outside of one. */
  readonly image: string | undefined
  /** Of its control group, which depend on what the action asks for; undefined without one. */
  readonly limits: GroupLimits | undefined
}

/**
 * What a process is known by. The client's key alone is a claim: Bazel 7 has the same for both protocols, and a client may
 * have any. Settings of the worker itself, such as its sandbox, are the same for all of its processes.
 */
export const processKey = (wanted: Wanted, facts: KeyFacts): string => {
  const { clientKey, protocol, startup, workingDirectory: directory, tools } = wanted
  const { instanceName, scope, digestFunction, environment, image, limits } = facts
  const files = tools.map(({ path, entry }) => [
    ...[path, entry.digest.key, entry.isExecutable],
    ...[
      entry.nodeProperties?.unixMode?.value ?? null,
      entry.nodeProperties?.mtime ? toMs(entry.nodeProperties.mtime) : null,
    ],
  ])
  const whole = [
    ...[
      instanceName,
      scope,
      digestFunction.name,
      clientKey,
      protocol,
      startup,
      directory,
      image ?? null,
      limits ?? null,
    ],
    ...[Object.entries(environment).sort(byName), files.sort(byName)],
  ]
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex')
}

const byName = (a: readonly unknown[], b: readonly unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1)

/** All files of the input root, as a request names them. */
export const inputsOf = ({ files }: InputTree, directory: string): WorkInput[] =>
  files.map(({ path, entry }) => ({
    path: directory === '' ? path : posix.relative(directory, path),
    hash: entry.digest.hash,
  }))
