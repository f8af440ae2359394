import { hashOf } from './identity/credential.js'
import { newToken } from './identity/tokens.js'

/** Creates a token and prints its text, which is stored nowhere, and its line for a `tokens_file`. */
export const tokenCommand = (
  name: string,
  { groups, scope }: { readonly groups: readonly string[]; readonly scope: string | undefined },
  print: (text: string) => void,
): number => {
  const token = newToken()
  const words = [...(groups.length > 0 ? [groups.join(',')] : []), ...(scope === undefined ? [] : [`scope=${scope}`])]
  const line = [name, hashOf(token), ...words].join(' ')
  print(`token, for ${name} alone and kept nowhere: ${token}\n`)
  print(`line for tokens_file: ${line}\n`)
  return 0
}
