import { execFile } from 'node:child_process'
import { accessSync, constants, fstatSync, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { HiddenPlaces } from './hidden-places.js'
import { STATUS_FD } from './starter.js'

export interface SandboxSettings {
  /** Nothing of the machine can be written but the input root, and `/tmp` is the action's own. */
  readonly ownsMounts: boolean
  readonly keepsNetwork: boolean
  /** Inputs are mounted read-only, where a command has mounts of its own. */
  readonly protectsInputs: boolean
  /** The input root is `/`, and nothing else of the machine is there. */
  readonly isRoot: boolean
  /** Most that each of the file systems in memory takes that a command has of its own; 0 for what the machine has by default. */
  readonly ownBytes: number
  /** Absolute paths of files and folders that a command with mounts of its own does not see. */
  readonly hidden: readonly string[]
}

export interface Confined {
  readonly argv: readonly string[]
  /** Where it is to run: in the input root. */
  readonly cwd: string
  readonly root: string
  /** What of the input root it may not write to, relative to it. */
  readonly readOnly: readonly string[]
  /** What the action may write to; the input root is in it. */
  readonly directory: string
  /** Where the actions of the worker run: of the others nothing is to be seen. */
  readonly workDirectory: string
}

const TRIAL_MS = 10_000
/** A path and some words. */
const MAX_TOLD_BYTES = 16_384

/**
 * Runs commands in Linux namespaces of their own by bubblewrap: no process of the machine can be seen, whatever a command
 * starts ends with it, and there is no network but a loopback. Without mounts of its own it sees all files of the machine;
 * with them it sees none that the configuration names, and no socket.
 */
export class Sandbox {
  readonly #program: string
  readonly #settings: SandboxSettings
  readonly #hidden: HiddenPlaces

  private constructor(program: string, settings: SandboxSettings) {
    this.#program = program
    this.#settings = settings
    this.#hidden = new HiddenPlaces(settings.hidden, settings)
  }

  /** FAILED_PRECONDITION where there is no bubblewrap, or the kernel does not let it work. */
  static async open(settings: SandboxSettings): Promise<Sandbox> {
    const program = programIn(process.env['PATH'] ?? '')
    if (program === undefined) {
      throw new StatusError('FAILED_PRECONDITION', 'use_namespaces needs bwrap in PATH: install bubblewrap')
    }
    const sandbox = new Sandbox(program, settings)
    const { keepsNetwork, ownsMounts, ownBytes } = settings
    const mounts = ownsMounts ? [...machine(ownBytes), ...sandbox.#hidden.options()] : ['--dev-bind', '/', '/']
    const trial = [...namespaces(keepsNetwork), ...mounts, '/bin/true']
    try {
      await promisify(execFile)(program, trial, { env: {}, timeout: TRIAL_MS })
    } catch (error) {
      const said = (error as { readonly stderr?: string }).stderr?.trim()
      const remedy =
        'let this user make user namespaces (kernel.unprivileged_userns_clone, a container with CAP_SYS_ADMIN)'
      const message = `use_namespaces does not work on this machine: ${said || inWords(error)}; ${remedy}, or leave it out`
      throw new StatusError('FAILED_PRECONDITION', message, { cause: error })
    }
    return sandbox
  }

  /** Whether inputs are mounted so that nobody can write to them. */
  get protectsInputs(): boolean {
    return this.#settings.ownsMounts && this.#settings.protectsInputs
  }

  /** Whether inputs are to be files of the action alone: it can change the modes of what is the worker's. */
  get givesCopies(): boolean {
    return this.#settings.ownsMounts && !this.#settings.protectsInputs
  }

  /** The command line that runs another one inside; `startFailure` reads what it writes to its `STATUS_FD`. */
  confine({ argv, cwd, ...places }: Confined): readonly string[] {
    const { keepsNetwork, isRoot } = this.#settings
    const inside = isRoot ? `/${cwd.slice(places.root.length + 1)}` : cwd
    const mounts = this.#mounts(places)
    const told = ['--json-status-fd', String(STATUS_FD)]
    return [this.#program, ...namespaces(keepsNetwork), ...mounts, ...told, '--chdir', inside, '--', ...argv]
  }

  #mounts({ root, directory, workDirectory, readOnly }: Omit<Confined, 'argv' | 'cwd'>): readonly string[] {
    const { ownsMounts, isRoot, ownBytes } = this.#settings
    if (!ownsMounts) return ['--dev-bind', '/', '/', '--proc', '/proc']
    const inputs = readOnly.flatMap((path) => ['--ro-bind', `${root}/${path}`, `${isRoot ? '' : root}/${path}`])
    if (isRoot) return ['--bind', root, '/', ...inputs, ...own(ownBytes)]
    const place = ['--tmpfs', workDirectory, '--bind', directory, directory, '--remount-ro', workDirectory]
    return [...machine(ownBytes), ...this.#hidden.options(), ...place, ...inputs]
  }
}

/**
 * Why nothing ran inside: bubblewrap ends with 1 then, as a program may, but has written no exit code to `status`, to which no
 * program inside can write. The reason it prints, in English wherever it is; an `errno` where the program could not be executed.
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

/** As glibc and musl say them; what else keeps a program from being executed is about its rights or its format. */
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
  const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MAX_TOLD_BYTES))
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0))
}

const namespaces = (keepsNetwork: boolean): readonly string[] => [
  '--die-with-parent',
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', 'action'],
  ...(keepsNetwork ? [] : ['--unshare-net']),
  ...['--cap-drop', 'ALL'],
]

/** What is written to it is in the memory of the machine, and in none of its processes. */
const inMemory = (path: string, bytes: number): readonly string[] => [
  ...(bytes > 0 ? ['--size', String(bytes)] : []),
  ...['--tmpfs', path],
]

const own = (bytes: number): readonly string[] => [
  ...['--dev', '/dev', ...inMemory('/dev/shm', bytes), '--remount-ro', '/dev'],
  ...['--proc', '/proc', ...inMemory('/tmp', bytes)],
]

const machine = (bytes: number): readonly string[] => [
  ...['--ro-bind', '/', '/', ...own(bytes), ...inMemory('/var/tmp', bytes)],
]

const programIn = (path: string): string | undefined =>
  path
    .split(':')
    .map((folder) => `${folder}/bwrap`)
    .find((program) => {
      try {
        accessSync(program, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
