import { Readable, Writable } from 'node:stream'
import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar'
import { StatusError } from '../base/status-error.js'
import type { Store } from '../blobs/store.js'
import { toMs } from '../proto/time.js'
import type { Digest } from '../reapi/digest.js'
import { type Directory, type FileEntry, parseDirectory } from '../reapi/directory.js'
import { type Call, cancellation } from '../rpc/call.js'
import { WHOLE } from '../stream/path.js'

export interface TarballOptions {
  readonly cas: Store
  /** An encoded directory of the tree. */
  readonly read: (directory: Digest) => Promise<Buffer>
  readonly call: Call
  /** More entries end the tarball with an error: a small tree can repeat a directory very often. */
  readonly maxEntries?: number
}

const MAX_ENTRIES = 1_000_000
/** A larger directory ends the tarball with an error. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Each takes a read, and nobody hears anything before the last. */
const CHECKED_DIRECTORIES = 256
/** Linux accepts no longer path. */
const MAX_PATH_LENGTH = 4096
const EXECUTABLE = 0o755
const PLAIN = 0o644
/** Without set-user-id and the like. */
const PERMISSIONS = 0o777
/** The field has eleven octal digits of seconds. */
const LAST_MS = (8 ** 11 - 1) * 1000

/**
 * The files below a directory as a tar stream. Files are read as fast as the stream is: some MiB wait at most. The stream
 * breaks off with an error if a blob is absent.
 */
export const tarball = (root: Digest, options: TarballOptions): Readable => {
  const { readable, controller } = createTarPacker()
  new Tarball(controller, options).write(root).then(
    () => controller.finalize(),
    // The reader gets the error; it may have gone already.
    (error: unknown) => controller.error(StatusError.from(error)),
  )
  return Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0])
}

/**
 * Rejects if a directory is absent, too large, or none, or has a name that is no path segment: before an answer has begun, this can still
 * be said. Reads the first CHECKED_DIRECTORIES; a tarball of more breaks off there, before the entry.
 */
export const checkTree = async (root: Digest, { read, call }: Pick<TarballOptions, 'read' | 'call'>): Promise<void> => {
  const waiting = [{ path: '', digest: root }]
  const known = new Set([root.key])
  for (const { path, digest } of waiting) {
    if (call.signal.aborted) throw cancellation(call.signal)
    const { directories } = await directoryAt(digest, path, read)
    for (const child of directories) {
      if (known.size === CHECKED_DIRECTORIES) break
      if (known.has(child.digest.key)) continue
      known.add(child.digest.key)
      waiting.push({ path: joined(path, child.name), digest: child.digest })
    }
  }
}

const directoryAt = async (digest: Digest, path: string, read: TarballOptions['read']): Promise<Directory> => {
  if (digest.sizeBytes > MAX_DIRECTORY_BYTES)
    throw new StatusError('RESOURCE_EXHAUSTED', `directory ${digest.key} is too large for a tarball`)
  return parseDirectory(await read(digest), digest.function, path)
}

class Tarball {
  readonly #controller: TarPackController
  readonly #options: TarballOptions
  #left: number

  constructor(controller: TarPackController, options: TarballOptions) {
    this.#controller = controller
    this.#options = options
    this.#left = options.maxEntries ?? MAX_ENTRIES
  }

  async write(root: Digest): Promise<void> {
    // Only digests wait, so a deep tree takes little memory.
    const waiting = [{ path: '', digest: root }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, digest } = next
      const directory = await directoryAt(digest, path, this.#options.read)
      if (path !== '') await this.#add({ name: `${path}/`, type: 'directory', size: 0, mode: EXECUTABLE })
      await this.#writeEntries(directory, path)
      // A directory can name itself, or another one, very often.
      if (waiting.length + directory.directories.length > this.#left) throw tooMany()
      for (const child of directory.directories) waiting.push({ path: joined(path, child.name), digest: child.digest })
    }
  }

  async #writeEntries({ files, symlinks }: Directory, path: string): Promise<void> {
    for (const { name, target } of symlinks)
      await this.#add({ name: joined(path, name), type: 'symlink', size: 0, linkname: target })
    for (const file of files) await this.#writeFile(file, joined(path, file.name))
  }

  async #writeFile({ digest, isExecutable, nodeProperties }: FileEntry, path: string): Promise<void> {
    const { cas, call } = this.#options
    const { mtime = null, unixMode = null } = nodeProperties ?? {}
    const body = this.#begin({
      name: path,
      type: 'file',
      size: digest.sizeBytes,
      mode: unixMode === null ? (isExecutable ? EXECUTABLE : PLAIN) : unixMode.value & PERMISSIONS,
      ...(mtime !== null && { mtime: new Date(Math.min(Math.max(0, toMs(mtime)), LAST_MS)) }),
    })
    const blob = await cas.get(digest, WHOLE, call)
    await blob.into([Writable.fromWeb(body)], call.signal)
  }

  async #add(header: TarHeader): Promise<void> {
    await this.#begin(header).getWriter().close()
  }

  #begin(header: TarHeader): WritableStream<Uint8Array> {
    const { signal } = this.#options.call
    if (signal.aborted) throw cancellation(signal)
    if (this.#left-- === 0) throw tooMany()
    if (header.name.length > MAX_PATH_LENGTH)
      throw new StatusError('INVALID_ARGUMENT', `a path of the tree has more than ${MAX_PATH_LENGTH} characters`)
    return this.#controller.add({ mtime: EPOCH, ...header })
  }
}

const tooMany = (): StatusError => new StatusError('RESOURCE_EXHAUSTED', 'the tree has too many entries for a tarball')

const EPOCH = new Date(0)

const joined = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)
