import { ODD } from '../parts/said.js'

const MAX_WORD = 400

/** The command line that runs an action again. `page` is the address of its page. */
export const actionCommand = (page: string): string | undefined => {
  const word = shellWord(page)
  return word && `remexec action run ${word}`
}

/** A word as a shell reads it. None for a text that a reader could not check before he runs it. */
export const shellWord = (text: string): string | undefined => {
  if (text === '' || text.length > MAX_WORD || ODD.test(text) || /[\t\n]/.test(text)) return undefined
  return /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
