import type { Execution } from '../state/state.js'

/** An entry of `Fits`: the amounts that it needs, and its best execution. */
export interface Fitting {
  /** In the order of the property names of its `Fits`. */
  readonly amounts: readonly number[]
  readonly first: Execution | undefined
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

/** A node above two others, which differ in bit `level` of amount `axis`. */
interface Branch {
  readonly level: number
  readonly axis: number
  parent: Branch | undefined
  low: Node
  high: Node
  least: number[]
  most: number[]
  best: Execution | undefined
  urgent: number
}

interface Leaf {
  readonly entry: Fitting
  parent: Branch | undefined
  readonly least: readonly number[]
  readonly most: readonly number[]
  best: Execution | undefined
  urgent: number
}

type Node = Branch | Leaf

/**
 * Entries by the amounts that they need. A search for the best one that fits into given amounts does not look at
 * all of them. It is a binary trie over the bits of the amounts, highest first, the bits of several amounts in
 * turn. Each node knows the bounds and the best of what is below it. With one amount a search looks at one path;
 * with several, at the nodes along the border between what fits and what does not.
 */
export class Fits<T extends Fitting> {
  readonly #leaves = new Map<T, Leaf>()
  #root: Node | undefined

  get isEmpty(): boolean {
    return this.#root === undefined
  }

  /** No two entries have the same amounts. Call `changed` if the first execution of `entry` changes later. */
  add(entry: T): void {
    const { amounts, first } = entry
    const leaf: Leaf = { entry, parent: undefined, least: amounts, most: amounts, best: first, urgent: urgency(first) }
    this.#leaves.set(entry, leaf)
    let node = this.#root
    if (node === undefined) {
      this.#root = leaf
      return
    }
    for (;;) {
      const fork = forkOf(node.least, amounts)
      if (!isBranch(node) || isAbove(fork, node)) {
        this.#insert(leaf, node, fork)
        return
      }
      node = bit(amounts, node) === 0 ? node.low : node.high
    }
  }

  remove(entry: T): void {
    const leaf = this.#leaves.get(entry)
    if (leaf === undefined) return
    this.#leaves.delete(entry)
    const { parent } = leaf
    if (parent === undefined) this.#root = undefined
    else {
      this.#replace(parent, parent.low === leaf ? parent.high : parent.low)
      refresh(parent.parent)
    }
  }

  changed(entry: T): void {
    const leaf = this.#leaves.get(entry)
    if (leaf === undefined) return
    leaf.best = entry.first
    leaf.urgent = urgency(entry.first)
    refresh(leaf.parent)
  }

  /** Adds to `found` what fits into `room`. */
  search(room: readonly number[], found: Found): void {
    if (this.#root !== undefined) visit(this.#root, room, found)
  }

  #insert(leaf: Leaf, beside: Node, { level, axis }: Fork): void {
    const isHigh = bit(leaf.least, { level, axis }) === 1
    const branch: Branch = {
      ...{ level, axis, parent: undefined, low: isHigh ? beside : leaf, high: isHigh ? leaf : beside },
      ...{ least: [], most: [], best: undefined, urgent: Number.POSITIVE_INFINITY },
    }
    this.#replace(beside, branch)
    beside.parent = branch
    leaf.parent = branch
    refresh(branch)
  }

  #replace(node: Node, by: Node): void {
    const { parent } = node
    by.parent = parent
    if (parent === undefined) this.#root = by
    else if (parent.low === node) parent.low = by
    else parent.high = by
  }
}

/** Order in the queue of one invocation. */
export const isSooner = (a: Execution, b: Execution): boolean =>
  a.rank === b.rank ? a.sequence < b.sequence : a.rank < b.rank

const visit = (node: Node, room: readonly number[], found: Found): void => {
  found.steps++
  if (!isWithin(node.least, room) || !improves(node, found)) return
  if (isBranch(node) && !isWithin(node.most, room)) {
    visit(node.low, room, found)
    visit(node.high, room, found)
    return
  }
  found.best = sooner(found.best, node.best)
  found.urgent = Math.min(found.urgent, node.urgent)
}

const improves = ({ best, urgent }: Node, found: Found): boolean =>
  best !== undefined && (found.best === undefined || urgent < found.urgent || isSooner(best, found.best))

/** Amounts are compared in turn: each of `amounts` is at most that of `room`. */
const isWithin = (amounts: readonly number[], room: readonly number[]): boolean => {
  for (let axis = 0; axis < amounts.length; axis++) if ((amounts[axis] ?? 0) > (room[axis] ?? -1)) return false
  return true
}

const refresh = (from: Branch | undefined): void => {
  for (let branch = from; branch !== undefined; branch = branch.parent) {
    const { low, high } = branch
    branch.least = low.least.map((amount, axis) => Math.min(amount, high.least[axis] ?? amount))
    branch.most = low.most.map((amount, axis) => Math.max(amount, high.most[axis] ?? amount))
    branch.best = sooner(low.best, high.best)
    branch.urgent = Math.min(low.urgent, high.urgent)
  }
}

const sooner = (a: Execution | undefined, b: Execution | undefined): Execution | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  return isSooner(b, a) ? b : a
}

const urgency = (first: Execution | undefined): number => first?.priority ?? Number.POSITIVE_INFINITY

const isBranch = (node: Node): node is Branch => 'low' in node

/** A place in the order of bits: the highest `level` first, in it the lowest `axis`. */
interface Fork {
  readonly level: number
  readonly axis: number
}

const isAbove = (a: Fork, b: Fork): boolean => a.level > b.level || (a.level === b.level && a.axis < b.axis)

/** The first bit in which two lists of amounts differ; level -1 if they are equal. */
const forkOf = (a: readonly number[], b: readonly number[]): Fork => {
  let fork: Fork = { level: -1, axis: 0 }
  for (let axis = 0; axis < a.length; axis++) {
    const level = highestDifference(a[axis] ?? 0, b[axis] ?? 0)
    if (level > fork.level) fork = { level, axis }
  }
  return fork
}

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
