import { ownedServers } from '../config/carried.js'
import type { Config } from '../config/config.js'
import { explain } from '../config/explain.js'
import type { Checked } from '../config/load.js'
import type { Problem } from '../config/problem.js'
import { resultStoresOf } from '../config/result-stores.js'
import { validateCommand } from '../config/validate-command.js'
import { promisesOf } from '../store/promises-of.js'
import { threadUsesOf } from '../store/thread-uses-of.js'
import { type Command, textOption, UsageError } from './command.js'
import { defaultConfig } from './default-config.js'
import { recipeFile } from './recipes.js'

export const validate: Command = {
  name: 'validate',
  usage: [
    ['[--format human|json] [CONFIG...]', 'check configurations; without CONFIG the one that `remexec` would serve'],
    ['--explain [CONFIG...]', 'and show through which stores each service keeps its blobs, and for how long'],
  ],
  options: { format: { type: 'string' }, explain: { type: 'boolean' } },
  run: async (args, { print }) => {
    const format = textOption(args, 'format') ?? 'human'
    if (format !== 'human' && format !== 'json') throw new UsageError(`--format ${format}: expected human or json`)
    const paths =
      args.words.length > 0 ? args.words : [defaultConfig(process.env) ?? recipeFile('machine', 'remexec.json5')]
    const explains = args.options['explain'] === true
    if (explains && format === 'json') throw new UsageError('--explain is for people: not with --format json')
    const describe = async (config: Config) =>
      explain(
        config,
        await promisesOf(config.stores, resultStoresOf(config.servers)),
        await threadUsesOf(config.stores),
      )
    return validateCommand(paths, { format, explain: explains ? describe : undefined, judge: idleThreads }, print)
  },
}

/** Servers that threads do not serve, by what their stores are; `warnings` has those that no store changes. */
const idleThreads = async ({ config, warnings, warningAt }: Checked): Promise<readonly Problem[]> => {
  if (config === undefined || warningAt === undefined || config.global.threads === 1) return []
  if (warnings.some(({ path }) => path === 'global.threads')) return []
  return ownedServers(config, await threadUsesOf(config.stores)).map(({ server, why }) =>
    warningAt(
      ['global', 'threads'],
      `the main thread keeps the connections of server ${JSON.stringify(server)}: ${why}`,
      {
        found: String(config.global.threads),
        expected: 'one thread, or stores and services that threads serve (docs/threads.md has the list)',
      },
    ),
  )
}
