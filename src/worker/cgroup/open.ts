import type { LocalWorkerOptions } from '../../config/config.js'
import type { Log } from '../../log/log.js'
import type { Resources } from '../../work/resources.js'
import type { Libc } from '../command/libc.js'
import { ControlGroups } from './groups.js'
import type { ReadAttribute } from './place.js'

export interface OpenGroups {
  /** As configured. */
  readonly wanted: LocalWorkerOptions['control_groups']
  readonly workDirectory: string
  /** Without it no command can be held until it is in its group. */
  readonly libc: Libc | undefined
  readonly log: Log
}

/** The control groups of a worker and what is needed to fill them, or undefined if it has none. What has to be closed is added to `held`. */
export const openGroups = async ({ wanted, workDirectory, libc, log }: OpenGroups, held: Resources) => {
  const { use, directory, memory_property: memory, cpu_property: cpu } = wanted
  if (use === 'never' || (libc === undefined && use === 'if_delegated')) return undefined
  const attribute = attributeBy(libc)
  const groups = await ControlGroups.open({ use, directory, identity: workDirectory, attribute, log })
  if (groups === undefined || libc === undefined) return undefined
  held.add('control groups of actions', () => groups.close())
  return { groups, libc, names: { memory, cpu } }
}

const MAX_BYTES = 64

const attributeBy =
  (libc: Libc | undefined): ReadAttribute =>
  (path, name) => {
    const value = Buffer.alloc(MAX_BYTES)
    const length = Number(libc?.attribute(path, name, value, MAX_BYTES) ?? -1)
    return length > 0 ? value.toString('latin1', 0, length) : ''
  }
