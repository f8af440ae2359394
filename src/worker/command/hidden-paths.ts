import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'

/** How long the list of hidden places is valid. It changes with the programs of the machine. */
const MAX_AGE_MS = 1000
/** Size of the in-memory file system that covers a folder. Nothing is stored there. */
const FOLDER_BYTES = 4096
/** Folders for which a command always has its own file system. */
const PRIVATE = ['/dev', '/proc', '/tmp', '/var/tmp']
/** Folders with sockets of system services. They are recreated when a service restarts. */
const RUN = ['/run', '/var/run']
/** Parts of RUN that programs need, on NixOS. */
const NEEDED_OF_RUN = ['/run/current-system', '/run/wrappers', '/run/opengl-driver']

/**
 * The places of the machine that a confined command must not see: the files and folders that the configuration names,
 * and Unix sockets with a path, which a network namespace does not isolate. Folders are covered by empty ones, files
 * and sockets by a device that cannot be opened.
 * The kernel lists only the sockets of this network namespace. Of other sockets, only those that are mount points are
 * found.
 */
export class HiddenPaths {
  readonly #paths: readonly string[]
  readonly #keepsNetwork: boolean
  readonly #mountedSockets = mountPoints().filter(isSocket)
  #covers: readonly Cover[] = []
  #foundMs = Number.NEGATIVE_INFINITY

  /** Paths are absolute. */
  constructor(paths: readonly string[], { keepsNetwork }: { readonly keepsNetwork: boolean }) {
    this.#paths = paths
    this.#keepsNetwork = keepsNetwork
  }

  /**
   * What covers the places that exist now. The options must follow those that mount the machine. A place that goes before bubblewrap
   * mounts over it keeps the sandbox from starting: while the list is valid, the next call has the same places without it.
   */
  covers(): readonly Cover[] {
    const nowMs = performance.now()
    if (nowMs - this.#foundMs >= MAX_AGE_MS) {
      this.#foundMs = nowMs
      this.#covers = this.#find()
    }
    // bubblewrap fails if the path to mount over does not exist.
    return this.#covers.filter(({ path }) => existsSync(path))
  }

  #find(): readonly Cover[] {
    const folders = [...PRIVATE]
    const covers: Cover[] = []
    const cover = (path: string): void => {
      if (path === '/' || folders.some((folder) => isWithin(path, folder))) return
      if (isFolder(path)) {
        folders.push(path)
        covers.push({ path, options: ['--size', String(FOLDER_BYTES), '--tmpfs', path] })
      } else covers.push({ path, options: ['--ro-bind', '/dev/null', path] })
    }
    for (const path of present(RUN)) cover(path)
    for (const path of this.#neededOfRun()) covers.push({ path, options: ['--ro-bind', path, path] })
    // Parents first: a path below a covered folder needs no cover.
    for (const path of [...present(this.#paths)].sort((a, b) => a.length - b.length)) cover(path)
    for (const path of present([...this.#mountedSockets, ...listedSockets()])) if (isSocket(path)) cover(path)
    return covers
  }

  #neededOfRun(): readonly string[] {
    const needed = NEEDED_OF_RUN.filter((path) => existsSync(path))
    const names = this.#keepsNetwork ? [...present(['/etc/resolv.conf'])] : []
    return [...needed, ...names.filter((path) => isWithin(path, '/run'))]
  }
}

export interface Cover {
  readonly path: string
  /** Of bubblewrap. */
  readonly options: readonly string[]
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** The real paths of existing `paths`, each once. */
const present = (paths: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const path of paths) {
    const real = unlessHidden(() => realpathSync(path))
    if (real !== undefined) found.add(real)
  }
  return found
}

const isFolder = (path: string): boolean => unlessHidden(() => lstatSync(path).isDirectory()) ?? false
const isSocket = (path: string): boolean => unlessHidden(() => lstatSync(path).isSocket()) ?? false

/** A path that this process cannot reach is also out of reach for its commands. */
const unlessHidden = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

const listedSockets = (): readonly string[] => {
  const text = unlessHidden(() => readFileSync('/proc/net/unix', 'utf8')) ?? ''
  return [...new Set([...text.matchAll(/^\S+: (?:\S+ +){6}(\/.*)$/gm)].map(([, path = '']) => path))]
}

/** mountinfo writes spaces and some other characters as octal escapes. */
const mountPoints = (): readonly string[] => {
  const text = unlessHidden(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? ''
  return text.split('\n').flatMap((line) => {
    const [, , , , point] = line.split(' ')
    return point === undefined
      ? []
      : [point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))]
  })
}
