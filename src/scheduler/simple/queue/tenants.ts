import { Heap } from '../state/heap.js'

/** An instance or invocation whose share of the workers is counted. */
export class Share {
  /** Attempts that hold a slot, or wait for one at a worker. */
  running = 0
  /** Waiting executions. */
  queued = 0
  /** Attempts started, on the clock of its competitors. A share that was idle does not catch up. */
  served = 0
}

/** An instance, and the invocations of its clients. */
export class Tenant extends Share {
  readonly name: string
  readonly invocations = new Map<string, Share>()
  /** Clock of its invocations: `served` of the invocation served last. */
  clock = 0
  /** Number of the moment since which something waits. */
  waitingSince = 0
  heapIndex = -1

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** The owner of an execution. */
export interface Seat {
  readonly tenant: Tenant
  readonly invocation: string
  readonly share: Share
}

/** Instances and invocations with queued or running executions. */
export class Tenants {
  readonly #byName = new Map<string, Tenant>()
  /** Those with waiting executions, the one that is served next in front. */
  readonly #line = new Heap<Tenant>(isServedSooner)
  #clock = 0
  #arrivals = 0

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
    if (tenant.queued++ === 0) {
      tenant.served = Math.max(tenant.served, this.#clock)
      tenant.waitingSince = ++this.#arrivals
    }
    if (share.queued++ === 0) share.served = Math.max(share.served, tenant.clock)
    this.#place(tenant)
  }

  /** Tenants with waiting executions, in the order in which they are served. Change nothing meanwhile. */
  *inLine(): Iterable<Tenant> {
    const passed: Tenant[] = []
    try {
      for (let { first } = this.#line; first !== undefined; { first } = this.#line) {
        this.#line.remove(first)
        passed.push(first)
        yield first
      }
    } finally {
      for (const tenant of passed) this.#line.add(tenant)
    }
  }

  unqueued(seat: Seat): void {
    seat.tenant.queued--
    seat.share.queued--
    this.#place(seat.tenant)
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
    this.#place(tenant)
  }

  ended(seat: Seat): void {
    seat.tenant.running--
    seat.share.running--
    this.#place(seat.tenant)
    this.#forget(seat)
  }

  #place(tenant: Tenant): void {
    if (tenant.heapIndex >= 0) this.#line.remove(tenant)
    if (tenant.queued > 0) this.#line.add(tenant)
  }

  #forget({ tenant, invocation, share }: Seat): void {
    if (share.queued + share.running === 0) tenant.invocations.delete(invocation)
    if (tenant.queued + tenant.running === 0) this.#byName.delete(tenant.name)
  }
}

/** Orders shares: fewest running first, then served least. 0 if equal. */
export const byShare = (a: Share, b: Share): number => a.running - b.running || a.served - b.served

const isServedSooner = (a: Tenant, b: Tenant): boolean => (byShare(a, b) || a.waitingSince - b.waitingSince) < 0
