import type { StoreConfig, StoreOptions } from '../config/config.js'
import { withNested } from '../config/store-path.js'
import type { StoreKind } from './contract/kind.js'
import type { Promised, PromisesBelow } from './contract/promised.js'
import { kinds } from './kinds/kinds.js'

type Name = keyof StoreOptions

/** What each named store promises, by its options alone: no store is opened. References must exist, without circles. */
export const promisesOf = async (
  stores: ReadonlyMap<string, StoreConfig>,
  resultStores: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> => {
  const used = new Set([...stores.values()].flatMap(withNested).map(({ kind }) => kind))
  const loaded = new Map<Name, StoreKind<never>>()
  for (const name of used) loaded.set(name, (await kinds[name].load()) as StoreKind<never>)
  const below: PromisesBelow = {
    child: ({ kind, options }) => kindOf(loaded, kind).promise(options as never, below),
    named: (name) => {
      const config = stores.get(name)
      if (config === undefined) throw new Error(`there is no store named ${name}`)
      return below.child(config)
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

const kindOf = (loaded: ReadonlyMap<Name, StoreKind<never>>, name: Name): StoreKind<never> => {
  const kind = loaded.get(name)
  if (kind === undefined) throw new Error(`the kind ${name} is not loaded`)
  return kind
}
