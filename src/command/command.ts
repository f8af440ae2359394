import type { ParseArgsConfig } from 'node:util'
import type { KnownSecrets } from '../log/secrets.js'
import type { GatheredOutput } from '../process/gathered-output.js'
import type { LogDescriptor } from '../process/log-descriptor.js'

/** Where a command writes, and what must never be written. */
export interface Console {
  /** Writes to standard output. */
  readonly print: (text: string) => void
  /** Writes bytes to standard output. Resolves when they may change. */
  readonly write: (bytes: Buffer) => Promise<void>
  /** Standard error, which also gets the log. */
  readonly errors: GatheredOutput
  /** Below `errors`: counts the lines that were lost. */
  readonly descriptor: LogDescriptor
  readonly secrets: KnownSecrets
}

/** The words after the name of a command. An option without a value is `true`. */
export interface Arguments {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | true | readonly string[] | undefined>>
}

export type OptionTypes = NonNullable<ParseArgsConfig['options']>

export interface Command {
  readonly name: string
  /** One row for each form: its arguments, and its effect in a few words. */
  readonly usage: readonly (readonly [args: string, effect: string])[]
  /** One row for each option that needs an explanation. Shown by `remexec COMMAND --help`. */
  readonly details?: readonly (readonly [option: string, effect: string])[]
  readonly options: OptionTypes
  /** Resolves to the exit status. Rejects with a UsageError if the arguments make no sense. */
  run(args: Arguments, console: Console): Promise<number>
}

/** Wrong arguments: exit status 2. */
export class UsageError extends Error {}

/** The value of an option that takes one; undefined if it was not given. */
export const textOption = ({ options }: Arguments, name: string): string | undefined => {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}
