import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Where the files of a server and of the limits beside it lie. */
export interface Place {
  /** The kind of file system. */
  readonly name: string
  readonly folder: string
}

/** Of statfs(2). */
const KINDS: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x01021994, 'tmpfs'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlayfs'],
  [0x2fc12fc1, 'zfs'],
  [0x6969, 'nfs'],
])

const placeAt = (folder: string): Place => {
  const { type } = statfsSync(folder)
  return { folder, name: KINDS.get(type) ?? `a file system of type 0x${type.toString(16)}` }
}

/** The folder of the system for temporary files (`TMPDIR`): a disk, most often. */
export const usualPlace = placeAt(tmpdir())

const MEMORY = '/dev/shm'

const writableMemory = (): Place | undefined => {
  try {
    accessSync(MEMORY, constants.W_OK)
    const place = placeAt(MEMORY)
    return place.name === 'tmpfs' && usualPlace.name !== 'tmpfs' ? place : undefined
  } catch {
    return undefined
  }
}

/** Files in memory, to tell what code costs from what a disk costs. Undefined without such a place, or when the usual is one. */
export const memoryPlace: Place | undefined = writableMemory()
