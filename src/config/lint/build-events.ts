import { resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { withNested } from '../store-path.js'
import type { LintContext } from './context.js'

/** Servers that offer build events share one folder, which nothing else may use. */
export const lintBuildEvents = ({ config, findings, originOf }: LintContext): void => {
  const offered = config.servers.flatMap(({ services }) => services.build_events ?? [])
  const [first] = offered
  if (first === undefined) return
  for (const other of offered.slice(1)) {
    if (isDeepStrictEqual(first, other)) continue
    findings.error(originOf(other), 'the build events of two servers have different settings', {
      expected: 'the same settings: they are kept in one folder',
    })
  }
  for (const [what, folder] of foldersOf(config)) {
    if (!isWithin(first.path, folder) && !isWithin(folder, first.path)) continue
    findings.error([...originOf(first), 'path'], `build events are kept in ${what}`, {
      found: JSON.stringify(first.path),
      expected: 'a folder of their own, which is not inside of another one',
    })
  }
}

const foldersOf = ({ stores, workers }: LintContext['config']): (readonly [string, string])[] => {
  const files = [...stores].flatMap(([name, store]) =>
    withNested(store).flatMap((nested) =>
      nested.kind === 'filesystem'
        ? [
            [`the content_path of store ${JSON.stringify(name)}`, nested.options.content_path] as const,
            [`the temp_path of store ${JSON.stringify(name)}`, nested.options.temp_path] as const,
          ]
        : [],
    ),
  )
  return [
    ...files,
    ...workers.map(({ options }) => ['the work_directory of a worker', options.work_directory] as const),
  ]
}

const isWithin = (path: string, folder: string): boolean =>
  resolve(path) === resolve(folder) || resolve(path).startsWith(resolve(folder) + sep)
