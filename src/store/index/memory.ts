import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { StatusError } from '../../base/status-error.js'

/** The arrays of an index: records, their tails and last uses by chunk; the table by partition; claims by chunk. */
export type Piece = 'records' | 'tails' | 'uses' | 'table' | 'claims'

/** Where the arrays of an index come from. */
export interface IndexMemory {
  /** An array of zeros. It takes the place of the array that this piece had there before. */
  words(piece: Piece, at: number, count: number): Int32Array
}

/** The memory of an index that one thread uses. */
export const ownMemory: IndexMemory = { words: (_piece, _at, count) => new Int32Array(count) }

/** A new array, as readers are told of it. */
export interface Grown {
  readonly piece: Piece
  readonly at: number
  readonly buffer: SharedArrayBuffer
}

/** What another thread needs to read an index. */
export interface IndexShare {
  readonly header: SharedArrayBuffer
  /** Brings a `Grown` for each array. Transferable. */
  readonly port: MessagePort
  readonly seed: number
}

export const PARTITIONS = 256

/**
 * The memory of an index that one thread, its owner, writes, and others read without a lock.
 *
 * Each partition of the table has a sequence number. It is odd while the owner changes the partition, or a record whose
 * digest is in it. A reader compares the number before with the number after: if they are equal and even, all that it read
 * between belongs together. Readers read every word with Atomics, and the owner writes between two of them, which keeps the order
 * on every processor.
 *
 * A new array is posted to every reader before the first word that refers to it is written. So a reader that meets such a
 * word finds the array in its port.
 */
export class SharedIndexMemory implements IndexMemory {
  readonly #header = new SharedArrayBuffer(4 * 2 * PARTITIONS)
  readonly #sequences = new Int32Array(this.#header, 0, PARTITIONS)
  /** How many arrays each partition of the table has had. */
  readonly #generations = new Int32Array(this.#header, 4 * PARTITIONS, PARTITIONS)
  readonly #pieces = new Map<string, Grown>()
  readonly #ports: MessagePort[] = []
  #sizeBytes = 0

  words(piece: Piece, at: number, count: number): Int32Array {
    const buffer = this.#allocated(4 * count)
    const grown: Grown = { piece, at, buffer }
    this.#pieces.set(`${piece} ${at}`, grown)
    for (const port of this.#ports) port.postMessage(grown)
    if (piece === 'table') Atomics.add(this.#generations, at, 1)
    return new Int32Array(buffer)
  }

  #allocated(sizeBytes: number): SharedArrayBuffer {
    try {
      const buffer = new SharedArrayBuffer(sizeBytes)
      this.#sizeBytes += sizeBytes
      return buffer
    } catch (cause) {
      const wanted = `the index of the store wants ${sizeBytes} bytes of memory beside the ${this.#sizeBytes} that it has`
      const advice = 'free memory, lower max_bytes, or set global.threads to 1'
      throw new StatusError('RESOURCE_EXHAUSTED', `${wanted}, and the system does not give it: ${advice}`, { cause })
    }
  }

  /** Begins a change. Readers of this partition wait until `end`. */
  begin(partition: number): void {
    Atomics.add(this.#sequences, partition, 1)
    // ARM may show the plain writes that follow before what `add` has written, but not before a load behind it.
    Atomics.load(this.#sequences, partition)
  }

  end(partition: number): void {
    Atomics.add(this.#sequences, partition, 1)
  }

  /** For one reader. */
  share(seed: number): IndexShare {
    const { port1, port2 } = new MessageChannel()
    port1.unref()
    for (const grown of this.#pieces.values()) port1.postMessage(grown)
    this.#ports.push(port1)
    return { header: this.#header, port: port2, seed }
  }
}
