import type { Difference } from './action-difference.js'
import type { Cause } from './cause.js'
import type { ListDifference } from './list-difference.js'
import type { NamedChange } from './named-difference.js'
import type { TreeChange } from './tree-difference.js'

/** A cause in one line, without times and builds. */
export const causeText = (cause: Cause): string => {
  switch (cause.kind) {
    case 'never built':
      return 'never built here'
    case 'evicted':
      return 'evicted: the action cache had its result before'
    case 'never written':
      return neverWrittenText(cause)
    case 'output gone':
      return `output gone: ${cause.path ?? cause.output?.key ?? 'not known which'}`
    case 'damaged':
      return 'the entry of the action cache was damaged'
    case 'forbidden':
      return 'the action cache behind this server refused the request'
    case 'unknown':
      return cause.isActionThere
        ? 'not known: no earlier Action like it is in the CAS any more'
        : 'not known: the client did not upload the Action'
    case 'different':
      return differenceText(cause.differences[0])
  }
}

const neverWrittenText = ({ last, isUncacheable }: Extract<Cause, { kind: 'never written' }>): string => {
  if (isUncacheable) return 'the client wants no result of this action kept (do_not_cache)'
  if (last.outcome === 'ran') return `ran before, and its result was not kept: ${last.reason ?? 'it failed'}`
  return 'requested before, and nobody wrote a result since'
}

/** A difference in one line. Values of environment variables are left out, because they may be secrets. */
export const differenceText = (difference: Difference): string => {
  switch (difference.kind) {
    case 'digest function':
      return `the digest function was ${difference.before}, is ${difference.now}`
    case 'salt':
      return 'the salt differs'
    case 'timeout':
      return `the timeout was ${seconds(difference.beforeMs)}, is ${seconds(difference.nowMs)}`
    case 'caching':
      return `the action was ${difference.isCachedNow ? 'not ' : ''}to be cached before (do_not_cache)`
    case 'platform':
      return `platform: ${some(difference.changes.map(namedText))}`
    case 'arguments':
      return listText('argument', difference.list)
    case 'environment':
      return `environment: ${some(difference.changes.map(nameOnlyText))}`
    case 'outputs':
      return listText('output', difference.list)
    case 'working directory':
      return `the working directory was ${quoted(difference.before)}, is ${quoted(difference.now)}`
    case 'inputs':
      return inputsText(difference)
    case 'other':
      return 'the same in another encoding'
  }
}

const seconds = (ms: number): string => (ms === 0 ? 'none' : `${ms / 1000} s`)

const MAX_NAMED = 3

const some = (texts: readonly string[]): string => {
  const more = texts.length - MAX_NAMED
  return `${texts.slice(0, MAX_NAMED).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

const namedText = ({ name, before, now }: NamedChange): string => {
  if (before === undefined) return `${name} is new (${quoted(now ?? '')})`
  if (now === undefined) return `${name} is gone (was ${quoted(before)})`
  return `${name} was ${quoted(before)}, is ${quoted(now)}`
}

const nameOnlyText = ({ name, before, now }: NamedChange): string => {
  if (before === undefined) return `${name} is new`
  return now === undefined ? `${name} is gone` : `${name} differs`
}

const listText = (noun: string, { removed, added }: ListDifference): string => {
  const [was, is] = [removed[0], added[0]]
  if (removed.length === 1 && added.length === 1) return `${noun} ${changeInside(was ?? '', is ?? '')}`
  if (removed.length === 0) return `${noun} ${some(added.map(quoted))} is new`
  if (added.length === 0) return `${noun} ${some(removed.map(quoted))} is gone`
  return `${removed.length} ${noun}s became ${added.length}, from ${quoted(was ?? '')} to ${quoted(is ?? '')} on`
}

/** Longer texts are shown around what differs: shell scripts as arguments have hundreds of characters. */
const SHORT = 60
const BEFORE = 16
const AFTER = 6

const changeInside = (was: string, is: string): string => {
  if (was.length <= SHORT && is.length <= SHORT) return `${quoted(was)} became ${quoted(is)}`
  const least = Math.min(was.length, is.length)
  let start = 0
  while (start < least && was[start] === is[start]) start += 1
  let same = 0
  while (same < least - start && was.at(-1 - same) === is.at(-1 - same)) same += 1
  const from = Math.max(0, start - BEFORE)
  const part = (text: string): string => {
    const to = Math.min(text.length, text.length - same + AFTER)
    return quoted(`${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`)
  }
  return `${part(was)} became ${part(is)}`
}

const inputsText = ({ tree }: Extract<Difference, { kind: 'inputs' }>): string => {
  if (tree === undefined) return 'inputs differ; the server does not have the list of inputs'
  if (tree.changes.length === 0) return 'inputs differ; the server does not have all input directories'
  const all = tree.changes.map(changeText)
  return `input ${some(all)}${tree.isComplete ? '' : ' or more'}`
}

export const changeText = ({ path, before, now }: TreeChange): string => {
  const name = quoted(path)
  if (before === undefined) return `${name} is new`
  if (now === undefined) return `${name} is gone`
  if (before.kind !== now.kind) return `${name} was a ${before.kind}, is a ${now.kind}`
  if (before.digest?.key === now.digest?.key && before.isExecutable !== now.isExecutable)
    return `${name} became ${now.isExecutable ? 'executable' : 'not executable'}`
  return `${name} changed`
}

const MAX_TEXT = 200

/** Bare if it cannot be misread; quoted and shortened otherwise. */
const quoted = (text: string): string => {
  if (/^[\w./@:=+%,~-]{1,200}$/.test(text)) return text
  return JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)
}
