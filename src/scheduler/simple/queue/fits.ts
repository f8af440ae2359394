import type { Execution } from '../state/state.js'

/** An entry of `Fits`: the amounts that it needs, and its best execution. */
export interface Fitting {
  /** In the order of the property names of its `Fits`. */
  readonly amounts: readonly number[]
  readonly first: Execution | undefined
  /** Its node; -1: in no `Fits`. An entry is in at most one at a time. */
  node: number
}

/** What a search has found among the entries that fit. */
export interface Found {
  /** The execution that comes first by rank. */
  best: Execution | undefined
  /** The best priority of an execution that is the first of its entry. */
  urgent: number
  /** Nodes looked at. */
  steps: number
}

const NONE = -1
const FIRST_NODES = 8

/**
 * The nodes of a trie, by number. Arrays of numbers, because a change looks at the nodes of a path and at their neighbours: as
 * objects these are spread over the memory of all that waits, and most of the time goes into fetching them.
 */
class Nodes {
  readonly capacity: number
  readonly parent: Int32Array
  /** `NONE` in a leaf. */
  readonly low: Int32Array
  readonly high: Int32Array
  /** What is below `low` and `high` differs first in bit `level` of amount `axis`. */
  readonly level: Int32Array
  readonly axis: Int32Array
  /** The leaf below whose first execution comes first, and the order of that execution. */
  readonly best: Int32Array
  readonly rank: Float64Array
  readonly sequence: Float64Array
  /** The best priority of a first execution. */
  readonly urgent: Float64Array
  /** Bounds of what is below, for each amount. */
  readonly least: Float64Array
  readonly most: Float64Array

  constructor(capacity: number, axes: number, from?: Nodes) {
    this.capacity = capacity
    this.parent = ints(capacity, from?.parent)
    this.low = ints(capacity, from?.low)
    this.high = ints(capacity, from?.high)
    this.level = ints(capacity, from?.level)
    this.axis = ints(capacity, from?.axis)
    this.best = ints(capacity, from?.best)
    this.rank = floats(capacity, from?.rank)
    this.sequence = floats(capacity, from?.sequence)
    this.urgent = floats(capacity, from?.urgent)
    this.least = floats(capacity * axes, from?.least)
    this.most = floats(capacity * axes, from?.most)
  }

  isSooner(a: number, b: number): boolean {
    const [rankA = 0, rankB = 0] = [this.rank[a], this.rank[b]]
    return rankA === rankB ? (this.sequence[a] ?? 0) < (this.sequence[b] ?? 0) : rankA < rankB
  }
}

const ints = (count: number, from: Int32Array | undefined): Int32Array => {
  const made = new Int32Array(count)
  if (from !== undefined) made.set(from)
  return made
}

const floats = (count: number, from: Float64Array | undefined): Float64Array => {
  const made = new Float64Array(count)
  if (from !== undefined) made.set(from)
  return made
}

const NO_NODES = new Nodes(0, 0)

/**
 * Entries by the amounts that they need. A search for the best one that fits into given amounts does not look at
 * all of them. It is a binary trie over the bits of the amounts, highest first, the bits of several amounts in
 * turn. Each node knows the bounds and the best of what is below it. With one amount a search looks at one path;
 * with several, at the nodes along the border between what fits and what does not.
 */
export class Fits<T extends Fitting> {
  readonly #axes: number
  /** Of the leaves, by node. */
  readonly #entries: (T | undefined)[] = []
  readonly #free: number[] = []
  /** The first entry, while there has been no second one: most invocations wait for one thing, which needs no trie. */
  #only: T | undefined
  #nodes = NO_NODES
  #used = 0
  #root = NONE

  constructor(axes: number) {
    this.#axes = axes
  }

  get isEmpty(): boolean {
    return this.#root === NONE && this.#only === undefined
  }

  /** No two entries have the same amounts. Call `changed` if the first execution of `entry` changes later. */
  add(entry: T): void {
    const only = this.#only
    if (only === undefined && this.#used === 0) {
      this.#only = entry
      return
    }
    this.#only = undefined
    if (only !== undefined) this.#plant(only)
    this.#plant(entry)
  }

  #plant(entry: T): void {
    const leaf = this.#take()
    entry.node = leaf
    this.#entries[leaf] = entry
    const nodes = this.#nodes
    nodes.low[leaf] = NONE
    nodes.parent[leaf] = NONE
    nodes.best[leaf] = leaf
    for (let axis = 0; axis < this.#axes; axis++) {
      const amount = entry.amounts[axis] ?? 0
      nodes.least[leaf * this.#axes + axis] = amount
      nodes.most[leaf * this.#axes + axis] = amount
    }
    this.#note(leaf, entry)
    if (this.#root === NONE) this.#root = leaf
    else this.#insert(leaf, entry)
  }

  remove(entry: T): void {
    if (this.#only === entry) this.#only = undefined
    const leaf = entry.node
    if (this.#entries[leaf] !== entry) return
    entry.node = NONE
    this.#entries[leaf] = undefined
    this.#free.push(leaf)
    const { parent, low, high } = this.#nodes
    const branch = parent[leaf] ?? NONE
    if (branch === NONE) {
      this.#root = NONE
      return
    }
    this.#replace(branch, (low[branch] === leaf ? high[branch] : low[branch]) ?? NONE)
    this.#free.push(branch)
    this.#renewFrom(parent[branch] ?? NONE)
  }

  changed(entry: T): void {
    const leaf = entry.node
    if (this.#entries[leaf] !== entry) return
    this.#note(leaf, entry)
    this.#renewFrom(this.#nodes.parent[leaf] ?? NONE)
  }

  /** Adds to `found` what fits into `room`. */
  search(room: readonly number[], found: Found): void {
    if (this.#only !== undefined) visitOnly(this.#only, room, found)
    else if (this.#root !== NONE) this.#visit(this.#root, room, found)
  }

  #visit(node: number, room: readonly number[], found: Found): void {
    found.steps++
    const { least, most, low, high, best, urgent } = this.#nodes
    if (!this.#isWithin(least, node, room) || !this.#improves(node, found)) return
    const below = low[node] ?? NONE
    if (below !== NONE && !this.#isWithin(most, node, room)) {
      this.#visit(below, room, found)
      this.#visit(high[node] ?? NONE, room, found)
      return
    }
    const { first } = this.#entries[best[node] ?? NONE] ?? {}
    if (first !== undefined && (found.best === undefined || isSooner(first, found.best))) found.best = first
    found.urgent = Math.min(found.urgent, urgent[node] ?? Number.POSITIVE_INFINITY)
  }

  #improves(node: number, { best, urgent }: Found): boolean {
    const { rank, sequence, urgent: urgencies } = this.#nodes
    if (best === undefined || (urgencies[node] ?? 0) < urgent) return true
    const ownRank = rank[node] ?? 0
    return ownRank === best.rank ? (sequence[node] ?? 0) < best.sequence : ownRank < best.rank
  }

  /** Amounts are compared in turn: each bound is at most that of `room`. */
  #isWithin(bounds: Float64Array, node: number, room: readonly number[]): boolean {
    for (let axis = 0; axis < this.#axes; axis++)
      if ((bounds[node * this.#axes + axis] ?? 0) > (room[axis] ?? -1)) return false
    return true
  }

  #note(leaf: number, { first }: T): void {
    const { rank, sequence, urgent } = this.#nodes
    rank[leaf] = first?.rank ?? Number.POSITIVE_INFINITY
    sequence[leaf] = first?.sequence ?? Number.POSITIVE_INFINITY
    urgent[leaf] = first?.priority ?? Number.POSITIVE_INFINITY
  }

  #take(): number {
    const known = this.#free.pop()
    if (known !== undefined) return known
    const { capacity } = this.#nodes
    if (this.#used === capacity) this.#nodes = new Nodes(Math.max(FIRST_NODES, 2 * capacity), this.#axes, this.#nodes)
    return this.#used++
  }

  #insert(leaf: number, { amounts }: T): void {
    let node = this.#root
    for (;;) {
      const fork = this.#forkOf(node, amounts)
      const { low, high, level, axis } = this.#nodes
      const below = low[node] ?? NONE
      const own = { level: level[node] ?? 0, axis: axis[node] ?? 0 }
      if (below === NONE || isAbove(fork, own)) {
        this.#branch(leaf, node, fork, bit(amounts, fork) === 1)
        return
      }
      node = bit(amounts, own) === 0 ? below : (high[node] ?? NONE)
    }
  }

  #branch(leaf: number, beside: number, fork: Fork, isHigh: boolean): void {
    const branch = this.#take()
    const { parent, low, high, level, axis, best } = this.#nodes
    this.#replace(beside, branch)
    low[branch] = isHigh ? beside : leaf
    high[branch] = isHigh ? leaf : beside
    level[branch] = fork.level
    axis[branch] = fork.axis
    best[branch] = NONE
    parent[beside] = branch
    parent[leaf] = branch
    this.#renewFrom(branch)
  }

  #replace(node: number, by: number): void {
    const { parent, low, high } = this.#nodes
    const above = parent[node] ?? NONE
    parent[by] = above
    if (above === NONE) this.#root = by
    else if (low[above] === node) low[above] = by
    else high[above] = by
  }

  /** Renews the branches above a change, up to the first one that stays as it is. */
  #renewFrom(from: number): void {
    const { parent } = this.#nodes
    for (let branch = from; branch !== NONE && this.#renew(branch); ) branch = parent[branch] ?? NONE
  }

  /** Whether anything is different. */
  #renew(branch: number): boolean {
    const nodes = this.#nodes
    const [low = NONE, high = NONE] = [nodes.low[branch], nodes.high[branch]]
    const isBounded = this.#renewBounds(branch, low, high)
    const child = nodes.isSooner(high, low) ? high : low
    const [rank = 0, sequence = 0, best = NONE] = [nodes.rank[child], nodes.sequence[child], nodes.best[child]]
    const urgent = Math.min(nodes.urgent[low] ?? 0, nodes.urgent[high] ?? 0)
    const isSame = best === nodes.best[branch] && rank === nodes.rank[branch] && sequence === nodes.sequence[branch]
    if (isSame && urgent === nodes.urgent[branch]) return isBounded
    nodes.best[branch] = best
    nodes.rank[branch] = rank
    nodes.sequence[branch] = sequence
    nodes.urgent[branch] = urgent
    return true
  }

  #renewBounds(branch: number, low: number, high: number): boolean {
    const { least, most } = this.#nodes
    let isChanged = false
    for (let axis = 0; axis < this.#axes; axis++) {
      const at = branch * this.#axes + axis
      const atLow = low * this.#axes + axis
      const atHigh = high * this.#axes + axis
      const lowest = Math.min(least[atLow] ?? 0, least[atHigh] ?? 0)
      const highest = Math.max(most[atLow] ?? 0, most[atHigh] ?? 0)
      isChanged ||= lowest !== least[at] || highest !== most[at]
      least[at] = lowest
      most[at] = highest
    }
    return isChanged
  }

  /** The first bit in which the amounts of a node and these differ; level -1 if they are equal. */
  #forkOf(node: number, amounts: readonly number[]): Fork {
    const { least } = this.#nodes
    let fork: Fork = { level: -1, axis: 0 }
    for (let axis = 0; axis < this.#axes; axis++) {
      const level = highestDifference(least[node * this.#axes + axis] ?? 0, amounts[axis] ?? 0)
      if (level > fork.level) fork = { level, axis }
    }
    return fork
  }
}

const visitOnly = ({ amounts, first }: Fitting, room: readonly number[], found: Found): void => {
  found.steps++
  if (first === undefined) return
  for (let axis = 0; axis < amounts.length; axis++) if ((amounts[axis] ?? 0) > (room[axis] ?? -1)) return
  if (found.best === undefined || isSooner(first, found.best)) found.best = first
  found.urgent = Math.min(found.urgent, first.priority)
}

/** Order in the queue of one invocation. */
export const isSooner = (a: Execution, b: Execution): boolean =>
  a.rank === b.rank ? a.sequence < b.sequence : a.rank < b.rank

/** A place in the order of bits: the highest `level` first, in it the lowest `axis`. */
interface Fork {
  readonly level: number
  readonly axis: number
}

const isAbove = (a: Fork, b: Fork): boolean => a.level > b.level || (a.level === b.level && a.axis < b.axis)

const LOW_BITS = 26
const LOW = 2 ** LOW_BITS

/** Amounts have up to 53 bits, the operators of bits only 32. */
const highestDifference = (a: number, b: number): number => {
  const high = Math.floor(a / LOW) ^ Math.floor(b / LOW)
  if (high !== 0) return LOW_BITS + 31 - Math.clz32(high)
  return 31 - Math.clz32((a % LOW) ^ (b % LOW))
}

const bit = (amounts: readonly number[], { level, axis }: Fork): number =>
  Math.floor((amounts[axis] ?? 0) / 2 ** level) % 2
