import { programAt } from '../../../built.js'

export { loader } from '../../../built.js'

/** The path of a program beside this file. */
export const programOf = (name: string): string => programAt(new URL(name, import.meta.url))
