import type { Execution } from '../state/state.js'
import { type Bucket, type Group, Lane } from './bucket.js'
import { Fits } from './fits.js'
import type { Seat, Share, Tenant } from './tenants.js'

type WaitingOf = Map<Group, Map<Share, Fits<Lane>>>

/** The lanes of all buckets, so that those of one instance, group and invocation can be searched by their amounts. */
export class Lanes {
  readonly #waiting = new Map<Tenant, WaitingOf>()

  of(tenant: Tenant): ReadonlyMap<Group, ReadonlyMap<Share, Fits<Lane>>> | undefined {
    return this.#waiting.get(tenant)
  }

  add(execution: Execution, bucket: Bucket, seat: Seat): void {
    const { lanes, amounts, group } = bucket
    const { tenant, share } = seat
    const own = entry(lanes, tenant, () => new Map<Share, Lane>())
    const groups = entry(this.#waiting, tenant, (): WaitingOf => new Map())
    const shares = entry(groups, group, () => new Map<Share, Fits<Lane>>())
    const fits = entry(shares, share, () => new Fits<Lane>(amounts.length))
    const known = own.get(share)
    const lane = known ?? new Lane(amounts)
    lane.add(execution)
    if (known !== undefined) {
      fits.changed(lane)
      return
    }
    own.set(share, lane)
    fits.add(lane)
  }

  /** Removes an execution, and its lane if that is now empty. */
  remove(execution: Execution, bucket: Bucket, { tenant, share }: Seat): void {
    const own = bucket.lanes.get(tenant)
    const lane = own?.get(share)
    const groups = this.#waiting.get(tenant)
    const shares = groups?.get(bucket.group)
    const fits = shares?.get(share)
    if (lane === undefined || fits === undefined) return
    lane.remove(execution)
    if (lane.size > 0) {
      fits.changed(lane)
      return
    }
    fits.remove(lane)
    own?.delete(share)
    if (own?.size === 0) bucket.lanes.delete(tenant)
    if (fits.isEmpty) shares?.delete(share)
    if (shares?.size === 0) groups?.delete(bucket.group)
    if (groups?.size === 0) this.#waiting.delete(tenant)
  }

  /** The rank of a waiting execution improved. */
  raised(execution: Execution, { lanes, group }: Bucket, { tenant, share }: Seat): void {
    const lane = lanes.get(tenant)?.get(share)
    if (lane === undefined) return
    lane.raised(execution)
    this.#waiting.get(tenant)?.get(group)?.get(share)?.changed(lane)
  }
}

const entry = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
