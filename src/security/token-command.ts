import { hashOf } from './identity/credential.js'
import { newToken } from './identity/tokens.js'

/** Makes a token: its text, which is kept nowhere, and the line of a `tokens_file` by which it is known. */
export const tokenCommand = (name: string, groups: readonly string[], print: (text: string) => void): number => {
  const token = newToken()
  const line = [name, hashOf(token), ...(groups.length > 0 ? [groups.join(',')] : [])].join(' ')
  print(`token, for ${name} alone and kept nowhere: ${token}\n`)
  print(`line for tokens_file: ${line}\n`)
  return 0
}
