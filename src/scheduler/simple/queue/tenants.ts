/** Somebody whose part of the workers counts. */
export class Share {
  /** Attempts that hold a place. */
  running = 0
  /** Executions that wait. */
  queued = 0
  /** How much it was served, on the clock of those it competes with. Who comes back after a while does not catch up. */
  served = 0
}

/** An instance, and the invocations of its clients. */
export class Tenant extends Share {
  readonly name: string
  readonly invocations = new Map<string, Share>()
  /** What its invocations were served, as `served` of the one served last. */
  clock = 0

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** Whose execution something is. */
export interface Seat {
  readonly tenant: Tenant
  readonly invocation: string
  readonly share: Share
}

/** Instances and invocations that have something queued or running. */
export class Tenants {
  readonly #byName = new Map<string, Tenant>()
  #clock = 0

  get size(): number {
    return this.#byName.size
  }

  get all(): Iterable<Tenant> {
    return this.#byName.values()
  }

  queuedOf(instanceName: string): number {
    return this.#byName.get(instanceName)?.queued ?? 0
  }

  runningOf(instanceName: string): number {
    return this.#byName.get(instanceName)?.running ?? 0
  }

  seat(instanceName: string, invocation: string): Seat {
    const tenant = this.#byName.get(instanceName) ?? new Tenant(instanceName)
    this.#byName.set(instanceName, tenant)
    const share = tenant.invocations.get(invocation) ?? new Share()
    tenant.invocations.set(invocation, share)
    return { tenant, invocation, share }
  }

  queued({ tenant, share }: Seat): void {
    if (tenant.queued++ === 0) tenant.served = Math.max(tenant.served, this.#clock)
    if (share.queued++ === 0) share.served = Math.max(share.served, tenant.clock)
  }

  unqueued(seat: Seat): void {
    seat.tenant.queued--
    seat.share.queued--
    this.#forget(seat)
  }

  started({ tenant, share }: Seat): void {
    this.#clock = Math.max(this.#clock, tenant.served)
    tenant.clock = Math.max(tenant.clock, share.served)
    for (const [one, clock] of [[tenant, this.#clock] as const, [share, tenant.clock] as const]) {
      if (one.running + one.queued === 0) one.served = Math.max(one.served, clock)
      one.running++
      one.served++
    }
  }

  ended(seat: Seat): void {
    seat.tenant.running--
    seat.share.running--
    this.#forget(seat)
  }

  #forget({ tenant, invocation, share }: Seat): void {
    if (share.queued + share.running === 0) tenant.invocations.delete(invocation)
    if (tenant.queued + tenant.running === 0) this.#byName.delete(tenant.name)
  }
}

/** Who has less running comes first, of equals who was served less: 0 for neither. */
export const byShare = (a: Share, b: Share): number => a.running - b.running || a.served - b.served
