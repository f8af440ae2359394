import { counted } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import { type Command, textOption, UsageError } from '../command.js'
import { ask, noWords, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { cell } from './table.js'

interface Answer {
  readonly deleted: readonly string[]
  readonly absent: readonly string[]
  readonly isDryRun: boolean
}

const BY = ['action', 'target', 'build', 'scope', 'caller'] as const

export const rm: Command = {
  name: 'rm',
  usage: [
    ['--action HASH-SIZE', 'delete the result of an action from the action cache of a running server'],
    ['--target LABEL | --build ID', 'delete the results that this target or this build asked for'],
    ['--scope NAME', 'delete all that a branch or pull request keeps of its own'],
    ['--caller IDENTITY', 'delete all results and entries that a caller wrote until now, such as `token ci`'],
  ],
  details: [
    ['--instance NAME', 'the instance (default: the one without a name)'],
    ['--dry-run', 'only list what would be deleted'],
    ...OPERATOR_DETAILS,
  ],
  options: {
    ...OPERATOR_OPTIONS,
    ...Object.fromEntries([...BY, 'instance'].map((name) => [name, { type: 'string' } as const])),
    'dry-run': { type: 'boolean' },
  },
  run: async (args, console) => {
    noWords(args)
    const [by, ...more] = BY.filter((one) => args.options[one] !== undefined)
    const value = by && textOption(args, by)
    if (by === undefined || !value || more.length > 0)
      throw new UsageError(
        'expected one of --action HASH-SIZE, --target LABEL, --build ID, --scope NAME and --caller IDENTITY',
      )
    const query = {
      [by]: by === 'action' ? value.replace('/', '-') : value,
      instance: textOption(args, 'instance') ?? '',
      ...(args.options['dry-run'] === true && { dry_run: 'true' }),
    }
    const answer = await ask<Answer>(args, console, { method: 'DELETE', path: '/result', query })
    if (!printedAsJson(args, console, answer))
      console.print(by === 'scope' || by === 'caller' ? allText(by, answer) : textOf(answer))
    if (answer.deleted.length > 0) return 0
    const what = by === 'scope' ? 'keeps nothing of scope' : `has no result of ${by}`
    throw new StatusError('NOT_FOUND', `the action cache ${what} ${cell(value)}`)
  },
}

const allText = (by: 'scope' | 'caller', { deleted, isDryRun }: Answer): string => {
  const what = by === 'scope' ? 'all that scope' : 'all that'
  const end = by === 'scope' ? 'keeps' : 'wrote until now'
  return deleted.map((name) => `${what} ${cell(name)} ${end} ${isDryRun ? 'would be' : 'is'} deleted\n`).join('')
}

const textOf = ({ deleted, absent, isDryRun }: Answer): string => {
  if (deleted.length === 0) return ''
  const what = `${counted(deleted.length, 'result')} ${isDryRun ? 'would be deleted' : 'deleted'}`
  const others = absent.length === 0 ? '' : `; ${counted(absent.length, 'action')} had none`
  return `${deleted.map((key) => `${cell(key)}\n`).join('')}${what}${others}\n`
}
