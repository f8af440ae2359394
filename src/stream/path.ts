import type { Duplex, Readable, Writable } from 'node:stream'

/** The stages of one download, source first. Whoever obtains it runs it or discards it. */
export type ReadPath = readonly [Readable, ...Duplex[]]

/** The stages of one upload, sink last. The sink's `finish` means committed; destroyed before that, it leaves no trace. */
export type WritePath = readonly [...Duplex[], Writable]

/** A whole transfer. */
export type Path = readonly [Readable, ...Duplex[], Writable]

/** The part of a blob a reader asks for, in bytes. `limit` is Infinity for everything from `offset` on. */
export interface Range {
  readonly offset: number
  readonly limit: number
}

export const WHOLE: Range = { offset: 0, limit: Number.POSITIVE_INFINITY }

/** Gives a path up without running it, so that every stage frees what it holds. */
export const discard = (path: ReadPath | WritePath): void => {
  for (const stage of path) {
    // A stage may still fail while it is torn down; nobody is left to tell, and an unheard 'error' would end the process.
    stage.on('error', () => {})
    stage.destroy()
  }
}
