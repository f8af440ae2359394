import { join } from 'node:path'
import { counted, decimalSize } from '../base/decimal-size.js'
import { errnoOf, inWords } from '../base/errno.js'
import type { Config, StoreConfig } from '../config/config.js'
import { NOTES_FOLDER } from '../store/contract/notes-folder.js'
import { leftOverUploads } from '../store/kinds/fast_slow/uploads/left-over.js'
import { type FileStore, fileStores, placedStores } from './file-stores.js'
import { type Finding, warning } from './finding.js'

/** Uploads that a `fast_slow` acknowledged and that nobody uploads any more, because it is no longer configured. */
export const leftOverFindings = async (config: Config): Promise<Finding[]> => {
  const fastPaths = new Set(
    placedStores(config).flatMap(({ store }) =>
      store.kind === 'fast_slow' ? contentPathOf(store.options.fast, config) : [],
    ),
  )
  const others = fileStores(config).filter(({ options }) => !fastPaths.has(options.content_path))
  return (await Promise.all(others.map(findingsOf))).flat()
}

/** Empty if it is no file store. */
const contentPathOf = (store: StoreConfig, config: Config): readonly string[] => {
  if (store.kind === 'filesystem') return [store.options.content_path]
  const named = store.kind === 'ref_store' ? config.stores.get(store.options.name) : undefined
  return named === undefined ? [] : contentPathOf(named, config)
}

const findingsOf = async ({ path, options: { content_path } }: FileStore): Promise<Finding[]> => {
  const subject = `store ${path}`
  const folder = join(content_path, NOTES_FOLDER)
  try {
    const { count, bytes } = await leftOverUploads(content_path)
    if (count === 0) return []
    const waiting = `${counted(count, 'acknowledged upload')} of ${decimalSize(bytes)} in ${folder}`
    const message = `${waiting} will never reach a slow store: this store is no longer the fast one of a fast_slow`
    const way = 'put the fast_slow back until /status says that nothing waits'
    return [warning(subject, message, `${way}, or delete ${folder} to give these uploads up`)]
  } catch (error) {
    // The findings about folders tell it.
    if (errnoOf(error) === 'ENOTDIR') return []
    const message = `cannot read whether uploads of an earlier fast_slow wait in ${folder}: ${inWords(error)}`
    return [warning(subject, message, 'let the user of the server read that folder, or delete it')]
  }
}
