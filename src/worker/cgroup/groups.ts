import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { ActionGroup, type GroupLimits } from './action-group.js'
import { type Place, placeOfGroups, type ReadAttribute } from './place.js'
import { within } from './settled.js'

export interface ControlGroupOptions {
  /** `if_delegated`: undefined with a line in the log where groups cannot be used; `always`: a failure there. */
  readonly use: 'if_delegated' | 'always'
  /** Absolute path of the group to make groups in; undefined: that of this process. */
  readonly directory: string | undefined
  /** What tells this worker from others on this machine, also after a restart. */
  readonly identity: string
  readonly attribute: ReadAttribute
  readonly log: Log
}

/** A group of a worker that was killed has processes of its actions for a moment. */
const LEFT_MS = 5_000

/**
 * The control groups of a worker: one for all its actions, in it one for each command. The kernel limits and counts what is in a
 * group, whatever its processes do, and ends all of them at once.
 */
export class ControlGroups {
  readonly #place: Place
  readonly #path: string
  readonly #log: Log
  #made = 0

  private constructor(place: Place, path: string, log: Log) {
    this.#place = place
    this.#path = path
    this.#log = log
  }

  /** FAILED_PRECONDITION if they have to be used and cannot be. */
  static async open({
    use,
    directory,
    identity,
    attribute,
    log,
  }: ControlGroupOptions): Promise<ControlGroups | undefined> {
    const found = await ControlGroups.#make(placeOfGroups(directory, attribute), identity, log)
    if (typeof found !== 'string') return found
    if (use === 'always') throw new StatusError('FAILED_PRECONDITION', `control_groups: ${found}`)
    log.info('no control groups for actions, their processes are followed instead', { reason: found })
    return undefined
  }

  /** A string says why there are none. */
  static async #make(place: Place | string, identity: string, log: Log): Promise<ControlGroups | string> {
    if (typeof place === 'string') return place
    const name = createHash('sha256').update(identity).digest('hex').slice(0, 12)
    const path = `${place.path}/remexec-${name}`
    const groups = new ControlGroups(place, path, log)
    await groups.#removeLeft()
    mkdirSync(path)
    if (!existsSync(`${path}/cgroup.kill`)) {
      rmdirSync(path)
      return 'the kernel is older than 5.14, and cannot end a control group'
    }
    const controllers = [...place.controllers].map((one) => `+${one}`).join(' ')
    writeFileSync(`${path}/cgroup.subtree_control`, controllers)
    log.info('each action has a control group', { path, controllers: [...place.controllers] })
    return groups
  }

  /** A group for one command. Its owner ends it. */
  begin(limits: GroupLimits): ActionGroup {
    return ActionGroup.make(`${this.#path}/${++this.#made}`, limits, this.#place.controllers.has('cpu'))
  }

  /** Ends what is left in them. A group that stays is removed by the next start. */
  async close(): Promise<void> {
    try {
      await this.#removeLeft()
    } catch (error) {
      this.#log.warn('could not remove the control groups of this worker', { reason: inWords(error) })
    }
  }

  /** Of this worker, or of one before it that was killed. */
  async #removeLeft(): Promise<void> {
    if (!existsSync(this.#path)) return
    writeFileSync(`${this.#path}/cgroup.kill`, '1')
    if (!(await within(LEFT_MS, this.#path)))
      throw new StatusError('UNAVAILABLE', `processes in the control group ${this.#path} do not end`)
    for (const { name } of readdirSync(this.#path, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      rmdirSync(`${this.#path}/${name}`)
    rmdirSync(this.#path)
  }
}
