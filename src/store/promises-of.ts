import type { StoreConfig } from '../config/config.js'
import type { Promised, PromisesBelow } from './contract/promised.js'
import { LoadedKinds } from './loaded-kinds.js'

/** What each named store promises, by its options alone: no store is opened. References must exist, without circles. */
export const promisesOf = async (
  stores: ReadonlyMap<string, StoreConfig>,
  resultStores: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> => {
  const loaded = await LoadedKinds.of(stores)
  /** Stores may be referred to many times. */
  const known = new Map<string, Promised>()
  const below: PromisesBelow = {
    child: ({ kind, options }) => loaded.kind(kind).promise(options as never, below),
    named: (name) => {
      const promised = known.get(name) ?? below.child(loaded.config(name))
      known.set(name, promised)
      return promised
    },
  }
  return new Map(
    [...stores.keys()].map((name) => [
      name,
      resultStores.has(name)
        ? 'nothing: it has only results, and one that is gone is built again'
        : wordsOf(below.named(name)),
    ]),
  )
}

const wordsOf = ({ words }: Promised): string => words
