/** The folder `etc` of the recipes company and servers: certificates, and a token for each group. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { program } from '../cli/program.js'
import { run } from '../clients/process.js'
import { Authority } from '../tls/authority.js'

export interface RecipeEtc {
  readonly etc: string
  /** The file of the authority that signed for `localhost`. */
  readonly ca: string
  /** By group. */
  readonly tokens: Readonly<Record<string, string>>
}

export const makeEtc = async (folder: string, groups: readonly string[]): Promise<RecipeEtc> => {
  const etc = join(folder, 'etc')
  await mkdir(etc)
  const authority = new Authority(join(folder, 'authority'))
  const { certFile, keyFile } = authority.issue('server')
  for (const [name, from] of [
    ['server.pem', certFile],
    ['server.key', keyFile],
    ['ca.pem', authority.caFile],
  ] as const)
    await copyFile(from, join(etc, name))
  const tokens: Record<string, string> = {}
  let lines = ''
  for (const group of groups) {
    const { output } = await run(process.execPath, [program, 'token', `a-${group}`, '--group', group], folder, {})
    tokens[group] = /nowhere: (\S+)/.exec(output)?.[1] ?? ''
    lines += `${/tokens_file: (.*)/.exec(output)?.[1]}\n`
  }
  await writeFile(join(etc, 'tokens'), lines, { mode: 0o600 })
  return { etc, ca: authority.caFile, tokens }
}
