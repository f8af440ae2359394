import type { Details } from '../../builds/detail/details.js'
import { wholeMs } from '../../builds/own/facts.js'
import type { OwnExecution } from '../../builds/own/record.js'
import type { Step } from './critical-path.js'
import { commandOf, executionsFor, type Joining, latest } from './joined.js'

const LABEL = /(?:@@?[\w.~+-]*)?\/\/[^\s'"]*/
/** `Compiling text/count.cc`, `Linking text/libtext.so`: the last word is a file. */
const FILE = /^(\S+) (?:.* )?([^\s'"]*[./][^\s'"]*)$/
/** What Bazel does, in its words, and the mnemonics of such actions. */
const KINDS: Readonly<Record<string, RegExp>> = { Compiling: /Compile/, Linking: /Link/ }

/** Bazel prints hundredths of seconds, and clocks differ. */
const INEXACT_MS = 100
/** Commands that are read for one page, and for one step. */
const MAX_READ = 60
const MAX_READ_OF_STEP = 10

/**
 * The executions that steps of the critical path are. A step names its target, or a file that the command names or makes; of
 * several executions that fit it is the one that took most of the step's time. A step that ran at the client, or was
 * longer here than there, has none.
 */
export const executionsOfSteps = async (
  steps: readonly Step[],
  details: Details,
  joining: Joining,
): Promise<ReadonlyMap<Step, OwnExecution>> => {
  const found = new Map<Step, OwnExecution>()
  const packages = packagesOf(details, joining)
  let read = 0
  for (const step of steps) {
    const [label] = LABEL.exec(step.what) ?? []
    if (label !== undefined) {
      const [longest] = fitting(executionsFor(details, label), step, joining)
      if (longest !== undefined) found.set(step, longest)
      continue
    }
    const [, kind = '', file] = FILE.exec(step.what) ?? []
    if (file === undefined) continue
    const named = foldersOf(file).flatMap((folder) => packages.get(folder) ?? [])
    const ofKind = named.filter(({ mnemonic }) => KINDS[kind]?.test(mnemonic) !== false)
    for (const one of fitting(ofKind, step, joining).slice(0, MAX_READ_OF_STEP)) {
      if (read++ >= MAX_READ) return found
      if (!(await names(one, file, joining))) continue
      found.set(step, one)
      break
    }
  }
  return found
}

const fitting = (all: readonly OwnExecution[], { tookMs }: Step, { visit }: Joining): readonly OwnExecution[] =>
  latest(all)
    .filter((one) => visit.may('read_ac', one.instance) && wholeMs(one) <= tookMs + INEXACT_MS)
    .sort((a, b) => wholeMs(b) - wholeMs(a))

const names = async (one: OwnExecution, file: string, joining: Joining): Promise<boolean> => {
  const { arguments: words = [], outputPaths = [], outputFiles = [] } = (await commandOf(one, joining)) ?? {}
  return [...words, ...outputPaths, ...outputFiles].some((word) => word === file || word.endsWith(`/${file}`))
}

/** The executions by the folders of their targets. */
const packagesOf = ({ own }: Details, { visit }: Joining): ReadonlyMap<string, readonly OwnExecution[]> => {
  const packages = new Map<string, OwnExecution[]>()
  for (const one of own.executions) {
    const [, repository = '', folder] = /^(?:@@?([^/]*))?\/\/([^:]*)/.exec(one.target) ?? []
    if (folder === undefined || !visit.may('read_ac', one.instance)) continue
    const key = repository === '' ? folder : `external/${repository}/${folder}`
    const same = packages.get(key)
    if (same === undefined) packages.set(key, [one])
    else same.push(one)
  }
  return packages
}

/** `a/b` and `a` and the root for `a/b/c.cc`: where the package of a file can be. */
const foldersOf = (file: string): readonly string[] => {
  const parts = file.split('/').slice(0, MAX_DEPTH)
  return parts.map((_, at) => parts.slice(0, parts.length - 1 - at).join('/'))
}

const MAX_DEPTH = 40
