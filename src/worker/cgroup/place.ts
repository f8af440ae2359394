import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { errnoOf } from '../../base/errno.js'
import { isGroup, isOfUser, listIn, ownGroup } from './hierarchy.js'

/** Kernel features that limits need. */
export type Controller = 'memory' | 'pids' | 'cpu'
const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu']

/** Without `cpu` all actions have the same share. */
const NEEDED: readonly Controller[] = ['memory', 'pids']

/** Servers and workers of a delegated group move into this one: a group whose groups have limits has no processes itself. */
const OF_SERVERS = 'remexec-servers'
/** Processes may be started while others are moved. */
const ROUNDS = 20

/** Where the groups of actions can be made. */
export interface Place {
  readonly path: string
  readonly controllers: ReadonlySet<Controller>
}

/** Reads an extended attribute; empty if there is none, or it cannot be read. */
export type ReadAttribute = (path: string, name: string) => string

/**
 * The group in which those of actions are made: `directory`, or the one that was delegated to this process. Makes it ready.
 * A string says why there is none.
 */
export const placeOfGroups = (directory: string | undefined, attribute: ReadAttribute): Place | string => {
  const given = directory === undefined ? delegatedGroup(attribute) : { path: directory }
  if (typeof given === 'string') return given
  const { path } = given
  if (!isGroup(path)) return `${path} is no control group of version 2`
  const offered = listIn(`${path}/cgroup.controllers`)
  const controllers = CONTROLLERS.filter((name) => offered.includes(name))
  const lacking = NEEDED.filter((name) => !controllers.includes(name))
  if (lacking.length > 0) return `the control group ${path} has no controller for ${lacking.join(' and ')}`
  const asked = controllers.map((name) => `+${name}`).join(' ')
  try {
    for (let round = 0; ; round++) {
      try {
        writeFileSync(`${path}/cgroup.subtree_control`, asked)
        return { path, controllers: new Set(controllers) }
      } catch (error) {
        // Processes in it are in the way.
        if (errnoOf(error) !== 'EBUSY' || round === ROUNDS) throw error
        moveAside(path)
      }
    }
  } catch (error) {
    return `the control group ${path} cannot be used (${errnoOf(error) ?? String(error)})`
  }
}

const delegatedGroup = (attribute: ReadAttribute): { readonly path: string } | string => {
  const own = ownGroup()
  if (own === undefined) return 'this process is in no control group of version 2'
  const { path, isTop } = own
  // The server that started this worker, or an earlier start of this process, has moved it there.
  if (basename(path) === OF_SERVERS) return { path: dirname(path) }
  const isMarked = ['user.delegate', 'trusted.delegate'].some((name) => attribute(path, name).startsWith('1'))
  if (isTop || isMarked || isOfUser(path)) return own
  return `the control group ${path} is not delegated to this process (Delegate=yes of a systemd unit)`
}

const moveAside = (path: string): void => {
  const aside = `${path}/${OF_SERVERS}`
  if (!existsSync(aside)) mkdirSync(aside)
  for (const pid of listIn(`${path}/cgroup.procs`)) moveTo(aside, pid)
}

/** A process that has ended meanwhile needs no group. */
export const moveTo = (group: string, pid: string | number): void => {
  try {
    writeFileSync(`${group}/cgroup.procs`, String(pid))
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}
