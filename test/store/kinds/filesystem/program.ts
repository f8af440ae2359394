import { fileURLToPath } from 'node:url'

/** How a process of a test's own reads TypeScript: tap's loader takes seconds of CPU for it, this one half a second. */
export const loader: readonly string[] = ['--import', 'tsx']

/** The path of a program beside this file. */
export const programOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
