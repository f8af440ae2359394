/** Whether buffers are checked: set for tests, see CONTRIBUTING.md. */
const IS_CHECKED = process.env['REMEXEC_CHECK_BUFFERS'] === '1'

/** What idle buffers hold while they are checked. */
const PATTERN = 0xdd

/** Memory of one length that is reused. A buffer has one owner: whoever took it, until it gives it back. */
export class ReusedBuffers {
  readonly #sizeBytes: number
  readonly #maxIdleBytes: number
  readonly #idle: Buffer[] = []

  constructor(sizeBytes: number, maxIdleBytes: number) {
    this.#sizeBytes = sizeBytes
    this.#maxIdleBytes = maxIdleBytes
    if (IS_CHECKED) pools.add(new WeakRef(this))
  }

  take(): Buffer {
    const buffer = this.#idle.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(this.#sizeBytes)
    if (IS_CHECKED) wasNotWritten(buffer)
    return buffer
  }

  /** The buffer is no longer in use, and is not given back again. Beyond the bound it is left to the collector. */
  giveBack(buffer: Buffer): void {
    if (IS_CHECKED) isUnused(this.#idle, buffer)
    if ((this.#idle.length + 1) * buffer.length <= this.#maxIdleBytes) this.#idle.push(buffer)
  }

  /** Leaves all idle buffers to the collector. */
  forget(): void {
    if (IS_CHECKED) this.check()
    this.#idle.length = 0
  }

  /** Throws if an idle buffer was written to. */
  check(): void {
    for (const buffer of this.#idle) wasNotWritten(buffer)
  }
}

/** One loan of a buffer. Its owner ends it once: a second time is an error if buffers are checked, else it does nothing. */
export const onceReleased = (release: () => void): (() => void) => {
  let isHeld = true
  return () => {
    if (isHeld) {
      isHeld = false
      release()
    } else if (IS_CHECKED) fail('a buffer was released twice')
  }
}

/** Those that are alive and checked. */
const pools = new Set<WeakRef<ReusedBuffers>>()
const releasedBy = new WeakMap<Buffer, string | undefined>()
const pattern = IS_CHECKED ? new Map<number, Buffer>() : undefined

const isUnused = (idle: readonly Buffer[], buffer: Buffer): void => {
  if (idle.includes(buffer)) fail('a buffer was given back twice', buffer)
  buffer.fill(PATTERN)
  releasedBy.set(buffer, new Error('released').stack)
}

const wasNotWritten = (buffer: Buffer): void => {
  let expected = pattern?.get(buffer.length)
  if (expected === undefined) {
    expected = Buffer.alloc(buffer.length, PATTERN)
    pattern?.set(buffer.length, expected)
  }
  if (buffer.equals(expected)) return
  const at = buffer.findIndex((byte) => byte !== PATTERN)
  fail(`a buffer of ${buffer.length} bytes was written to at byte ${at} after its owner gave it back`, buffer)
}

/** Ends the process, because the caller is not the one at fault, and what it fails might be caught. */
const fail = (problem: string, buffer?: Buffer): never => {
  const before = buffer && releasedBy.get(buffer)
  const error = new Error(before === undefined ? problem : `${problem}. It was given back by:\n${before}`)
  // biome-ignore lint/plugin: it is to end the process
  queueMicrotask(() => {
    throw error
  })
  throw error
}

if (IS_CHECKED) {
  process.once('exit', () => {
    try {
      for (const pool of pools) pool.deref()?.check()
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exitCode = 1
    }
  })
}
