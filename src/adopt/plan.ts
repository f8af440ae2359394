import type { FileKind, FoundFile, Layout } from './found.js'

/** The files to import, and those that the store has no room for. */
export interface Plan {
  /** The least recently used first, so that the store evicts in the order of the other cache. */
  readonly files: readonly FoundFile[]
  readonly bytes: number
  readonly leftOut: readonly FoundFile[]
  readonly leftOutBytes: number
  /** Files and folders that could not be looked at. */
  readonly unreadable: Unreadable
}

export interface Unreadable {
  readonly count: number
  /** The first ones, with the reason. */
  readonly named: readonly string[]
}

const NAMED_MAX = 10

/** Lists a folder. Of more than `limitBytes`, the most recently used files are taken. */
export const planImport = async (
  folder: string,
  { layout, kind, limitBytes }: { readonly layout: Layout; readonly kind: FileKind; readonly limitBytes: number },
): Promise<Plan> => {
  // The name of a result has the size of its action, if any.
  const sizeOf = ({ sizeBytes, fileBytes }: FoundFile): number =>
    kind === 'results' ? fileBytes : (sizeBytes ?? fileBytes)
  const all: FoundFile[] = []
  const unreadable = { count: 0, named: [] as string[] }
  const onUnreadable = (path: string, reason: string): void => {
    if (unreadable.count++ < NAMED_MAX) unreadable.named.push(`${path}: ${reason}`)
  }
  for await (const file of layout.files(folder, kind, onUnreadable)) all.push(file)
  all.sort((a, b) => a.usedMs - b.usedMs)
  let first = all.length
  let bytes = 0
  for (let file = all[first - 1]; file !== undefined; file = all[first - 1]) {
    if (bytes + sizeOf(file) > limitBytes) break
    bytes += sizeOf(file)
    first -= 1
  }
  const leftOut = all.slice(0, first)
  const leftOutBytes = leftOut.reduce((sum, file) => sum + sizeOf(file), 0)
  return { files: all.slice(first), bytes, leftOut, leftOutBytes, unreadable }
}
