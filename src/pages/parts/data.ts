import { saidText } from './said.js'

/** Values of JSON for programs: the same facts as on a page, times in UTC. What is undefined is left out. */

/** A client may send any time, and not every number is one. */
const MAX_TIME_MS = 8.64e15

/** A point in time; undefined if there is none. */
export const timeData = (ms: number | undefined): string | undefined =>
  ms === undefined || !(Math.abs(ms) <= MAX_TIME_MS) || ms === 0 ? undefined : new Date(ms).toISOString()

/** A text from elsewhere: characters that could deceive a reader at a terminal are numbers. Undefined for an empty one. */
export const textData = (text: string | undefined): string | undefined =>
  text === undefined || text === ''
    ? undefined
    : text
        .split(/([\n\t])/)
        .map((part, at) => (at % 2 === 1 ? part : saidText(part)))
        .join('')

/** Milliseconds without a fraction. */
export const msData = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : Math.round(ms))
