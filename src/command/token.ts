import { tokenCommand } from '../security/token-command.js'
import { type Command, textOption, UsageError } from './command.js'

const isFit = (word: string): boolean => /^[^\s,#]+$/.test(word)

export const token: Command = {
  name: 'token',
  usage: [['NAME [--group GROUP]... [--scope SCOPE]', 'create an access token and its line for a tokens_file']],
  options: { group: { type: 'string', multiple: true }, scope: { type: 'string' } },
  run: async (args, { print }) => {
    const {
      words: [name, ...more],
      options,
    } = args
    const scope = textOption(args, 'scope')
    const groups = [options['group'] ?? []].flat() as string[]
    if (name === undefined || more.length > 0 || !isFit(name)) throw new UsageError('expected one NAME without blanks')
    if (!groups.every(isFit)) throw new UsageError('--group: expected a word without blanks and commas')
    if (scope !== undefined && !isFit(scope)) throw new UsageError('--scope: expected a word without blanks and commas')
    return tokenCommand(name, { groups, scope }, print)
  },
}
