import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { cleanEnv, type Outcome, run } from '../../process.js'

/** A build tool with a cache over HTTP, as a user has it. */
export interface Tool {
  readonly name: string
  /** Of the mount. */
  readonly kind: string
  /** Options of the mount. */
  readonly mount?: object
  /** Why it cannot run here. */
  readonly skip: string | false
  /** A workspace in `folder`. */
  prepare(t: Test, folder: string): Promise<Workspace>
}

export interface Workspace {
  /** Where its commands run, and with which environment. */
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The command that users type. */
  readonly command: Command
  /** Removes everything that this machine knows of earlier builds. */
  forget(): Promise<void>
  /** Builds as a machine that has built nothing yet, with the cache at `url`. `settings`: variables of the tool. */
  build(url: string, settings?: NodeJS.ProcessEnv): Promise<Outcome>
  /** What the build made. */
  readonly made: string
  /** The tool's own word for a remote hit, if its output has one. */
  readonly saysRemote?: RegExp
}

export interface Command {
  readonly name: string
  readonly program: string
  /** In front of the user's. */
  readonly args?: readonly string[]
}

/** Removes files and folders. */
export const without =
  (folder: string, ...paths: readonly string[]) =>
  async (): Promise<void> => {
    for (const path of paths) await rm(join(folder, path), { recursive: true, force: true })
  }

/** The path of a program, and why tests without it are skipped. */
export const programOf = (variable: string): { readonly program: string; readonly skip: string | false } => {
  const program = process.env[variable]
  return { program: program ?? '', skip: program === undefined && `needs the path of a program in ${variable}` }
}

export const write = async (folder: string, files: Readonly<Record<string, unknown>>): Promise<void> => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

/** Makes a folder a repository with one commit. */
export const git = async (folder: string, home: string): Promise<void> => {
  const identity = ['-c', 'user.name=remexec', '-c', 'user.email=remexec@localhost']
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '.'],
    ['commit', '--quiet', '--message=fixture'],
  ])
    await run('git', [...identity, ...args], folder, cleanEnv(home))
}

export const SCRIPT = 'mkdir -p dist && cat src.txt > dist/out.txt && echo made'

/**
 * For builds of a few seconds: the compiler that starts fast, and no threads for collections. One of Maven takes 4 s of CPU
 * instead of 9, and the faults take 20.
 */
export const BRIEF_JVM = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
