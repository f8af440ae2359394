import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'

/** What is to be covered changes with the programs of the machine, so it is looked up again after this time. */
const FRESH_MS = 1000
/** A folder in place of another is a file system in memory; nothing is to be kept there. */
const FOLDER_BYTES = 4096
/** Where a command has a file system of its own anyhow. */
const OWN = ['/dev', '/proc', '/tmp', '/var/tmp']
/** Sockets of the machine's services, each of which a restart of its service makes anew. */
const RUN = ['/run', '/var/run']
/** What programs need of it: where NixOS has them. */
const NEEDED_OF_RUN = ['/run/current-system', '/run/wrappers', '/run/opengl-driver']

/**
 * What a confined command must not see of the machine: the files and folders that the configuration names, and Unix sockets
 * with a path, which a network namespace does not close. Folders are covered by empty ones. In place of files and sockets
 * there is a device that cannot be opened.
 *
 * The kernel lists the sockets of this network namespace only. Of others those are found that are mounted by themselves.
 */
export class HiddenPlaces {
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

  /** Options of bubblewrap that cover what is there now. They stand behind those that mount the machine. */
  options(): readonly string[] {
    const nowMs = performance.now()
    if (nowMs - this.#foundMs >= FRESH_MS) {
      this.#foundMs = nowMs
      this.#covers = this.#find()
    }
    // bubblewrap fails where there is nothing to mount over.
    return this.#covers.flatMap(({ path, options }) => (existsSync(path) ? options : []))
  }

  #find(): readonly Cover[] {
    const folders = [...OWN]
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
    // Parents first: what is below them needs no cover of its own.
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

interface Cover {
  readonly path: string
  readonly options: readonly string[]
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Where these paths lead, each once; absent ones are left out. */
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

/** What this process cannot reach is out of reach of its commands too. */
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

/** Spaces and the like are octal there. */
const mountPoints = (): readonly string[] => {
  const text = unlessHidden(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? ''
  return text.split('\n').flatMap((line) => {
    const [, , , , point] = line.split(' ')
    return point === undefined
      ? []
      : [point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))]
  })
}
