import { type Command, UsageError } from '../command.js'
import { ask, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { cell } from './table.js'

interface Answer {
  readonly workers: readonly string[]
  readonly isDrained: boolean
}

export const drain: Command = {
  name: 'drain',
  usage: [
    ['WORKER', 'workers of a running server finish their actions and get no new ones'],
    ['--undrain WORKER', 'they get actions again'],
  ],
  details: [
    ['WORKER', 'id or name, as `remexec queue` lists it, or a pattern with *'],
    ['--scheduler NAME', 'only workers of this scheduler'],
    ...OPERATOR_DETAILS,
  ],
  options: { ...OPERATOR_OPTIONS, undrain: { type: 'boolean' }, scheduler: { type: 'string' } },
  run: async (args, console) => {
    const [worker, ...more] = args.words
    if (worker === undefined || worker === '' || more.length > 0) throw new UsageError('expected one WORKER')
    const { undrain, scheduler } = args.options
    const query = { worker, ...(typeof scheduler === 'string' && { scheduler }) }
    const question = { method: undrain === true ? 'DELETE' : 'PUT', path: '/drain', query } as const
    const answer = await ask<Answer>(args, console, question)
    if (printedAsJson(args, console, answer)) return 0
    const word = answer.isDrained ? 'drained' : 'gets actions again'
    console.print(answer.workers.map((id) => `${cell(id)} ${word}\n`).join(''))
    return 0
  },
}
