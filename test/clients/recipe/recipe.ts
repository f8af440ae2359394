/** The recipes of docs/clients.md and docs/http-caches.md, run as they stand there but for the server's address. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { cleanEnv, type Outcome, run } from '../process.js'
import { root } from '../scratch.js'
import type { Server } from '../server.js'

/** Where the page lets clients look for the server. */
const WRITTEN_ADDRESS = '127.0.0.1:50051'

/** The first block of a language in a client's section of the page, for the server given. */
export const recipeOf = async (
  client: string,
  language: string,
  { uri }: Server,
  page = 'clients.md',
): Promise<string> => {
  const sections = (await readFile(join(root, 'docs', page), 'utf8')).split(/\n##+ /)
  const own = sections.find((section) => section.startsWith(`${client}\n`)) ?? ''
  const blocks = [...own.matchAll(/```(\w+)\n(.*?)```/gs)].filter(([, found]) => found === language)
  const [, , text] = blocks[0] ?? []
  if (text?.includes(WRITTEN_ADDRESS) !== true) {
    throw new Error(`docs/${page}: expected ${WRITTEN_ADDRESS} in the first block of ${language} below "${client}"`)
  }
  return text.replaceAll(WRITTEN_ADDRESS, uri.replace('grpc://', ''))
}

/** The program that a variable of the environment names, else one of the PATH. Undefined where there is none. */
export const findClient = async (variable: string, name: string): Promise<string | undefined> => {
  const { code, output } = await run('sh', ['-c', 'command -v "$1"', 'sh', process.env[variable] ?? name], '/', {
    PATH: process.env['PATH'],
  })
  return code === 0 ? output.trim() : undefined
}

/** The program of `findClient`; where there is none, the test file ends here, skipped with the reason. */
export const clientOrSkip = async (t: Test, variable: string, name: string): Promise<string> => {
  const found = await findClient(variable, name)
  if (found !== undefined) return found
  t.plan(0, `needs ${name} on the PATH or named in ${variable}`)
  process.exit()
}

/** Makes `name` start `program` with some arguments in front; gives the folder to put on the PATH. */
export const named = async (
  folder: string,
  name: string,
  program: string,
  args: readonly string[] = [],
): Promise<string> => {
  const bin = join(folder, 'bin')
  await mkdir(bin, { recursive: true })
  const quoted = [program, ...args].map((part) => `'${part}'`).join(' ')
  await writeFile(join(bin, name), `#!/bin/sh\nexec ${quoted} "$@"\n`)
  await chmod(join(bin, name), 0o755)
  return bin
}

/** Runs the lines of a recipe in a shell that ends at the first one that fails. */
export const runLines = (
  text: string,
  { cwd, home, bin }: { readonly cwd: string; readonly home: string; readonly bin: string },
): Promise<Outcome> => {
  const env = cleanEnv(home)
  return run('bash', ['-euc', text], cwd, { ...env, PATH: `${bin}:${env['PATH']}` })
}
