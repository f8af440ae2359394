import type { About } from './about.js'

/** An invocation, as far as bounds look at it. */
export interface Bounded {
  readonly sizeBytes: number
  readonly lastEventMs: number
  /** Whether it may be removed now. */
  readonly isAtRest: boolean
}

/** The members of one caller in one instance. */
class Group<T extends Bounded> {
  readonly members = new Set<T>()
  sizeBytes = 0
}

class Tenant<T extends Bounded> {
  readonly groups = new Map<string, Group<T>>()
  count = 0
  sizeBytes = 0
  /** Of invocations whose events come in now. */
  openBytes = 0
}

interface Place<T extends Bounded> {
  readonly tenant: Tenant<T>
  readonly group: Group<T>
  readonly tenantName: string
  readonly groupName: string
}

export type Measure = 'count' | 'sizeBytes'

/**
 * What each tenant keeps, so that a bound removes from the tenant that has most. A tenant is the caller that began the
 * invocations; without security it is the address of the client, because a client can invent any number of instances. The
 * invocations of one caller, or of one address, are told apart by instance: one token, or one proxy, may serve several teams.
 */
export class Tenants<T extends Bounded> {
  readonly #tenants = new Map<string, Tenant<T>>()
  readonly #places = new Map<T, Place<T>>()

  /** Counts a new one, or one whose tenant is known better than before. */
  put(member: T, { identity, address, instance }: Pick<About, 'identity' | 'address' | 'instance'>): void {
    const before = this.#places.get(member)
    const tenantName = identity === undefined ? `address ${address ?? ''}` : `caller ${identity}`
    if (before?.tenantName === tenantName && before.groupName === instance) return
    if (before !== undefined) this.delete(member)
    const tenant = this.#tenants.get(tenantName) ?? new Tenant<T>()
    this.#tenants.set(tenantName, tenant)
    const group = tenant.groups.get(instance) ?? new Group<T>()
    tenant.groups.set(instance, group)
    group.members.add(member)
    this.#places.set(member, { tenant, group, tenantName, groupName: instance })
    tenant.count += 1
    this.#add(member, member.sizeBytes)
  }

  delete(member: T): void {
    const place = this.#places.get(member)
    if (place === undefined) return
    this.#add(member, -member.sizeBytes)
    this.#places.delete(member)
    const { tenant, group, tenantName, groupName } = place
    tenant.count -= 1
    group.members.delete(member)
    if (group.members.size === 0) tenant.groups.delete(groupName)
    if (tenant.count === 0) this.#tenants.delete(tenantName)
  }

  /** Call before `sizeBytes` of the member changes by this. */
  grow(member: T, byBytes: number, isOpen: boolean): void {
    this.#add(member, byBytes)
    if (isOpen) this.open(member, byBytes)
  }

  /** These bytes are now of an invocation whose events come in; negative: no longer. */
  open(member: T, byBytes: number): void {
    const place = this.#places.get(member)
    if (place !== undefined) place.tenant.openBytes += byBytes
  }

  /** Bytes of the invocations of the same tenant whose events come in now. */
  openBytesOf(member: T): number {
    return this.#places.get(member)?.tenant.openBytes ?? 0
  }

  /**
   * The oldest at rest of the tenant that has most; of those of one caller, in the instance that has most. A tenant with no more
   * than its part of `maxCount` loses none by number: those of others, which are beyond theirs, come to rest soon.
   */
  next(measure: Measure, maxCount: number): T | undefined {
    const tenants = [...this.#tenants.values()].sort((a, b) => b[measure] - a[measure])
    for (const { groups, count } of tenants) {
      if (measure === 'count' && count <= maxCount / tenants.length) return undefined
      const size = ({ members, sizeBytes }: Group<T>): number => (measure === 'count' ? members.size : sizeBytes)
      for (const { members } of [...groups.values()].sort((a, b) => size(b) - size(a))) {
        const found = oldest(members)
        if (found !== undefined) return found
      }
    }
    return undefined
  }

  #add(member: T, byBytes: number): void {
    const place = this.#places.get(member)
    if (place === undefined) return
    place.tenant.sizeBytes += byBytes
    place.group.sizeBytes += byBytes
  }
}

const oldest = <T extends Bounded>(members: Iterable<T>): T | undefined => {
  let found: T | undefined
  for (const one of members)
    if ((found === undefined || one.lastEventMs < found.lastEventMs) && one.isAtRest) found = one
  return found
}
