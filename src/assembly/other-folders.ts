import type { FileKind } from '../adopt/found.js'
import { layoutIfThere } from '../adopt/layouts.js'
import { counted, decimalSize } from '../base/decimal-size.js'
import type { Config } from '../config/config.js'
import { withNested } from '../config/store-path.js'
import type { Log } from '../log/log.js'
import type { Resources } from '../work/resources.js'

/**
 * Warns of file stores whose folder has the files of another cache: the store neither serves nor counts them, so the disk
 * fills beyond `max_bytes`. Counts the files in the background.
 */
export const warnOfOtherFolders = (config: Config, { log, resources }: Parts): Promise<void> => {
  const abort = new AbortController()
  resources.add('count of files of other caches', () => abort.abort())
  return Promise.all(
    foldersOf(config).map(([store, folder, kind]) =>
      warn(store, folder, kind, abort.signal, log).catch((error: unknown) =>
        log.warn('could not look for the files of another cache', { store, folder, error }),
      ),
    ),
  ).then(() => {})
}

interface Parts {
  readonly log: Log
  readonly resources: Resources
}

/** Path and content_path of every file store, and what it keeps. */
const foldersOf = ({ stores, servers }: Config): (readonly [string, string, FileKind])[] => {
  const keepResults = new Set(servers.flatMap(({ services }) => [...services.ac.values()].map((ac) => ac.ac_store)))
  return [...stores].flatMap(([name, store]) =>
    withNested(store).flatMap((nested) =>
      nested.kind === 'filesystem'
        ? [[name, nested.options.content_path, keepResults.has(name) ? 'results' : 'blobs'] as const]
        : [],
    ),
  )
}

/** `remexec import`, which the warning names, says which files cannot be looked at. */
const ignored = (): void => {}

const warn = async (store: string, folder: string, kind: FileKind, signal: AbortSignal, log: Log): Promise<void> => {
  const layout = await layoutIfThere(folder)
  if (layout === undefined) return
  let [files, bytes] = [0, 0]
  for (const each of layout.holdsResults ? (['blobs', 'results'] as const) : [kind]) {
    for await (const { fileBytes } of layout.files(folder, each, ignored)) {
      if (signal.aborted) return
      files += 1
      bytes += fileBytes
    }
  }
  if (files === 0) return
  const isSecond = kind === 'results' && !layout.holdsResults
  log.warn('the folder of a store has the files of another cache, which the store neither serves nor counts', {
    store,
    folder,
    cache: layout.name,
    found: `${counted(files, 'file')}, ${decimalSize(bytes)}`,
    advice: `stop the server, run: remexec import CONFIG ${isSecond ? 'FOLDER_OF_BLOBS --results ' : ''}${folder}, then delete the old files`,
  })
}
