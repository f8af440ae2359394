import { fileURLToPath } from 'node:url'

/** The TypeScript loader for processes of tests: tap's loader takes seconds of CPU, this one half a second. */
export const loader: readonly string[] = ['--import', 'tsx']

/** The path of a program beside this file. */
export const programOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
