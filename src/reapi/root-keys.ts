import { hash } from 'node:crypto'
import type { Digest } from './digest.js'

/** What is known of an action's inputs before its tree is read. */
export interface RootFacts {
  readonly instanceName: string
  /** Of the caller; empty for a trusted one. */
  readonly scope?: string | undefined
  readonly inputRoot: Digest
  readonly command: Digest
  /** The first word of the command line. */
  readonly program: string
}

/** What makes a kept input root worth having for an action, best first. */
export const ROOT_WORTHS = ['root', 'command', 'kind'] as const

/**
 * Names of the input root of an action: hints for schedulers. Two actions share `root:` if their trees are equal, `command:` if
 * they are the same command, perhaps with other inputs, and `kind:` if they run the same program, which takes most of the same
 * inputs. Instances and scopes share none, so that nobody learns from a wait what others have.
 */
export const rootKeysOf = ({ instanceName, scope = '', inputRoot, command, program }: RootFacts): readonly string[] => {
  const values = { root: inputRoot.key, command: command.key, kind: program }
  return ROOT_WORTHS.map((worth) => {
    const text = JSON.stringify([instanceName, scope, worth, values[worth]])
    return `${worth}:${hash('sha256', text).slice(0, KEY_DIGITS)}`
  })
}

const KEY_DIGITS = 32
