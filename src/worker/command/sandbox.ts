import { execFile } from 'node:child_process'
import { fstatSync, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { type Cover, HiddenPaths } from './hidden-paths.js'
import { inLatestSandbox, OutdatedSandbox } from './outdated-sandbox.js'
import { programIn } from './program.js'
import { GATE_FD, STATUS_FD } from './starter.js'

export interface SandboxSettings {
  /** Only the input root is writable, and `/tmp` is private to the action. */
  readonly ownsMounts: boolean
  readonly keepsNetwork: boolean
  /** Inputs are mounted read-only. Only with `ownsMounts`. */
  readonly protectsInputs: boolean
  /** The input root is mounted as `/`, and nothing else of the machine is visible. */
  readonly isRoot: boolean
  /** Maximum size of each private in-memory file system of a command; 0 for the default of the machine. */
  readonly tmpBytes: number
  /** Absolute paths of files and folders that are hidden from commands. Only with `ownsMounts`. */
  readonly hidden: readonly string[]
}

/** An image that is the file system of a command. */
export interface SandboxImage {
  /** Absolute path of its files, in which the mount points exist. */
  readonly root: string
  readonly hasVarTmp: boolean
  readonly hasResolver: boolean
}

/** Where a command in an image finds its directory; the same on every worker. */
export const DIRECTORY_IN_IMAGE = '/remexec'

export interface Confined {
  readonly argv: readonly string[]
  /** Of the command. */
  readonly environment: Readonly<Record<string, string>>
  /** The working directory, below the input root. */
  readonly cwd: string
  readonly root: string
  /** Paths that the command may not write to, relative to the input root. */
  readonly readOnly: readonly string[]
  /** Whether the sandbox waits for a byte in `GATE_FD` before it runs the command. */
  readonly isGated: boolean
  /** The directory that the action may write to; contains the input root. */
  readonly directory: string
  /** The directory with all actions of the worker. Other actions in it are hidden. */
  readonly workDirectory: string
  /** Undefined if the command sees the machine. Only with `ownsMounts`, and not with `isRoot`. */
  readonly image: SandboxImage | undefined
}

export interface ConfinedCommand {
  readonly argv: readonly string[]
  /** Of bubblewrap, which passes it on. */
  readonly environment: Readonly<Record<string, string>>
  /** Whether that is why bubblewrap failed: see OutdatedSandbox. */
  readonly isOutdated: (reason: string) => boolean
}

const TRIAL_MS = 10_000
/** Enough for a path and a short message. */
const MAX_READ_BYTES = 16_384

/**
 * Runs commands in their own Linux namespaces by bubblewrap: no process of the machine is visible, all processes of a
 * command end with it, and there is no network except loopback. Without own mounts it sees all files of the machine.
 * With own mounts it sees neither sockets nor the paths that the configuration names.
 */
export class Sandbox {
  readonly #program: string
  readonly #settings: SandboxSettings
  readonly #hidden: HiddenPaths

  private constructor(program: string, settings: SandboxSettings) {
    this.#program = program
    this.#settings = settings
    this.#hidden = new HiddenPaths(settings.hidden, settings)
  }

  /** FAILED_PRECONDITION if bubblewrap is missing or the kernel does not permit it. */
  static async open(settings: SandboxSettings): Promise<Sandbox> {
    const program = programIn(process.env['PATH'] ?? '', 'bwrap')
    if (program === undefined) {
      throw new StatusError('FAILED_PRECONDITION', 'use_namespaces needs bwrap in PATH: install bubblewrap')
    }
    const sandbox = new Sandbox(program, settings)
    await inLatestSandbox(() => sandbox.#try())
    return sandbox
  }

  async #try(): Promise<void> {
    const { keepsNetwork, ownsMounts, tmpBytes } = this.#settings
    const covers = ownsMounts ? this.#hidden.covers() : []
    const mounts = ownsMounts ? [...machine(tmpBytes), ...optionsOf(covers)] : ['--dev-bind', '/', '/']
    const trial = [...namespaces(keepsNetwork), ...mounts, '/bin/true']
    try {
      await promisify(execFile)(this.#program, trial, { env: {}, timeout: TRIAL_MS })
    } catch (error) {
      const said = (error as { readonly stderr?: string }).stderr?.trim() ?? ''
      const remedy =
        'let this user make user namespaces (kernel.unprivileged_userns_clone, a container with CAP_SYS_ADMIN)'
      const message = `use_namespaces does not work on this machine: ${said || inWords(error)}; ${remedy}, or leave it out`
      const Failure = namesAny(covers)(said) ? OutdatedSandbox : StatusError
      throw new Failure('FAILED_PRECONDITION', message, { cause: error })
    }
  }

  /** Whether inputs are mounted read-only, so that no process can write to them. */
  get protectsInputs(): boolean {
    return this.#settings.ownsMounts && this.#settings.protectsInputs
  }

  /** Whether inputs must be private copies, because the command could change the modes of the worker's files. */
  get givesCopies(): boolean {
    return this.#settings.ownsMounts && !this.#settings.protectsInputs
  }

  /**
   * Whether a command can change nothing but its outputs, so that its result is that of its declared inputs, whoever asked for it.
   * Without own mounts it could write to files of the machine, and to its inputs through their links.
   */
  get isConfining(): boolean {
    return this.#settings.ownsMounts && !this.#settings.keepsNetwork
  }

  /** Whether commands see their input root as `/`. */
  get isRoot(): boolean {
    return this.#settings.isRoot
  }

  /** Absolute paths at which commands whose root is the input root see something else than that has there. */
  get covered(): readonly string[] {
    return this.#settings.isRoot ? ['/dev', '/proc', '/tmp'] : []
  }

  /** The command line that runs `argv` in the sandbox. `startFailure` reads its status from `STATUS_FD`. */
  confine({ argv, environment, cwd, isGated, ...paths }: Confined): ConfinedCommand {
    const { keepsNetwork, isRoot } = this.#settings
    const inside = isRoot ? `/${cwd.slice(paths.root.length + 1)}` : pathInside(cwd, paths)
    const covers = this.#covers(paths)
    const mounts = this.#mounts(paths, covers)
    const gate = isGated ? ['--block-fd', String(GATE_FD)] : []
    const status = [...gate, '--json-status-fd', String(STATUS_FD)]
    const { outside, options } = environmentOf(environment)
    const line = [...namespaces(keepsNetwork), ...mounts, ...options, ...status, '--chdir', inside, '--', ...argv]
    return { argv: [this.#program, ...line], environment: outside, isOutdated: namesAny(covers) }
  }

  /** Of what a command sees of the machine. */
  #covers({ image }: Pick<Confined, 'image'>): readonly Cover[] {
    const { ownsMounts, isRoot } = this.#settings
    return ownsMounts && !isRoot && image === undefined ? this.#hidden.covers() : []
  }

  #mounts(
    paths: Omit<Confined, 'argv' | 'cwd' | 'environment' | 'isGated'>,
    covers: readonly Cover[],
  ): readonly string[] {
    const { root, directory, workDirectory, readOnly, image } = paths
    const { ownsMounts, isRoot, keepsNetwork, tmpBytes } = this.#settings
    if (!ownsMounts) return ['--dev-bind', '/', '/', '--proc', '/proc']
    const seen = isRoot ? '' : pathInside(root, paths)
    const inputs = readOnly.flatMap((path) => ['--ro-bind', `${root}/${path}`, `${seen}/${path}`])
    if (image !== undefined) {
      const own = ['--bind', directory, DIRECTORY_IN_IMAGE]
      return [
        ...fileSystem(image, keepsNetwork),
        ...privateMounts(tmpBytes),
        ...varTmp(image, tmpBytes),
        ...own,
        ...inputs,
      ]
    }
    if (isRoot) return ['--bind', root, '/', ...inputs, ...privateMounts(tmpBytes)]
    const options = ['--tmpfs', workDirectory, '--bind', directory, directory, '--remount-ro', workDirectory]
    return [...machine(tmpBytes), ...optionsOf(covers), ...options, ...inputs]
  }
}

const optionsOf = (covers: readonly Cover[]): readonly string[] => covers.flatMap(({ options }) => options)

/** Whether words of bubblewrap are about a place that it was to cover. */
const namesAny =
  (covers: readonly Cover[]) =>
  (said: string): boolean =>
    covers.some(({ path }) => said.includes(path))

/** The path that a command has for a path in its directory. */
export const pathInside = (path: string, { directory, image }: Pick<Confined, 'directory' | 'image'>): string =>
  image === undefined ? path : `${DIRECTORY_IN_IMAGE}${path.slice(directory.length)}`

/**
 * Variables by which loaders of programs read, load or write files. bubblewrap itself, which runs before there is a sandbox, must
 * not have them: it sets them for the command.
 */
const OF_LOADERS = /^(LD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$|NLSPATH$|MALLOC_|GCOV_|LLVM_PROFILE)/

const environmentOf = (environment: Readonly<Record<string, string>>) => {
  const entries = Object.entries(environment)
  if (!entries.some(([name]) => OF_LOADERS.test(name))) return { outside: environment, options: [] }
  const outside = entries.filter(([name]) => !OF_LOADERS.test(name))
  const inside = entries.filter(([name]) => OF_LOADERS.test(name))
  return { outside: Object.fromEntries(outside), options: inside.flatMap(([name, value]) => ['--setenv', name, value]) }
}

/**
 * Why nothing ran inside. bubblewrap exits with 1 in that case, like a program may, but does not write an exit code to
 * `status`. Programs inside cannot write there. `reason` is the text printed by bubblewrap, always in English; `errno`
 * is set if the program could not be executed.
 */
export const startFailure = (
  program: string,
  { stderr, status }: { readonly stderr: number; readonly status: number },
): { readonly errno: string | undefined; readonly reason: string } | undefined => {
  if (/"exit-code"/.test(beginningOf(status))) return undefined
  const reason = beginningOf(stderr).trim()
  const failed = `bwrap: execvp ${program}: `
  return { errno: reason.startsWith(failed) ? (ERRORS[reason.slice(failed.length)] ?? 'EACCES') : undefined, reason }
}

/** Messages of glibc and musl. Other reasons concern the permissions or the format of the program. */
const ERRORS: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Not a directory': 'ENOTDIR',
  'File name too long': 'ENAMETOOLONG',
  'Filename too long': 'ENAMETOOLONG',
  'Too many levels of symbolic links': 'ELOOP',
  'Symbolic link loop': 'ELOOP',
  'Exec format error': 'ENOEXEC',
  'Operation not permitted': 'EPERM',
  'Text file busy': 'ETXTBSY',
  'Argument list too long': 'E2BIG',
}

const beginningOf = (file: number): string => {
  const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MAX_READ_BYTES))
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0))
}

const namespaces = (keepsNetwork: boolean): readonly string[] => [
  '--die-with-parent',
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', 'action'],
  ...(keepsNetwork ? [] : ['--unshare-net']),
  ...['--cap-drop', 'ALL'],
]

/** Data in it takes memory of the machine, but counts for none of its processes. */
const inMemory = (path: string, bytes: number): readonly string[] => [
  ...(bytes > 0 ? ['--size', String(bytes)] : []),
  ...['--tmpfs', path],
]

const privateMounts = (bytes: number): readonly string[] => [
  ...['--dev', '/dev', ...inMemory('/dev/shm', bytes), '--remount-ro', '/dev'],
  ...['--proc', '/proc', ...inMemory('/tmp', bytes)],
]

/** An image as the whole file system of a command, read-only. */
const fileSystem = ({ root, hasResolver }: SandboxImage, keepsNetwork: boolean): readonly string[] => [
  ...['--ro-bind', root, '/'],
  // The names of the network are those of the machine.
  ...(keepsNetwork && hasResolver ? ['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
]

const varTmp = ({ hasVarTmp }: SandboxImage, bytes: number): readonly string[] =>
  hasVarTmp ? inMemory('/var/tmp', bytes) : []

const machine = (bytes: number): readonly string[] => [
  ...['--ro-bind', '/', '/', ...privateMounts(bytes), ...inMemory('/var/tmp', bytes)],
]
