/** The folder that the recipe `servers` describes, with free ports of this machine. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { program } from '../cli/program.js'
import { run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'
import { freePorts } from '../store/remote/backend.js'
import { Authority } from '../tls/authority.js'

export const RECIPE = join(root, 'deploy/recipes/servers')

export interface ServersRecipe {
  readonly folder: string
  /** Below it, with certificates and tokens. */
  readonly etc: string
  readonly ca: string
  /** By group. */
  readonly tokens: Readonly<Record<string, string>>
  /** Of the balancer. */
  readonly clients: number
  readonly workers: number
  /** Of each server. */
  readonly ports: readonly { readonly clients: number; readonly workers: number; readonly peers: number }[]
}

export const prepareServers = async (t: Test): Promise<ServersRecipe> => {
  const folder = await scratchFolder(t)
  const etc = join(folder, 'etc')
  await mkdir(etc)
  const authority = new Authority(join(folder, 'authority'))
  const { certFile, keyFile } = authority.issue('server')
  await copyFile(certFile, join(etc, 'server.pem'))
  await copyFile(keyFile, join(etc, 'server.key'))
  await copyFile(authority.caFile, join(etc, 'ca.pem'))
  const tokens: Record<string, string> = {}
  let lines = ''
  for (const group of ['peers', 'workers', 'ci']) {
    const { output } = await run(process.execPath, [program, 'token', `a-${group}`, '--group', group], folder, {})
    tokens[group] = /nowhere: (\S+)/.exec(output)?.[1] ?? ''
    lines += `${/tokens_file: (.*)/.exec(output)?.[1]}\n`
  }
  await writeFile(join(etc, 'tokens'), lines, { mode: 0o600 })
  const [clients = 0, workers = 0, ...own] = await freePorts(8)
  const ports = [own.slice(0, 3), own.slice(3)].map(([clients = 0, workers = 0, peers = 0]) => {
    return { clients, workers, peers }
  })
  let balancer = await readFile(join(RECIPE, 'haproxy.cfg'), 'utf8')
  for (const [at, server] of ports.entries()) {
    balancer = balancer
      .replaceAll(`server-${at + 1}:50051`, `127.0.0.1:${server.clients}`)
      .replaceAll(`server-${at + 1}:50061 port 50051`, `127.0.0.1:${server.workers} port ${server.clients}`)
  }
  balancer = balancer
    .replace('bind :50051', `bind 127.0.0.1:${clients}`)
    .replace('bind :50061', `bind 127.0.0.1:${workers}`)
  t.notMatch(balancer, /:500[56]/, 'every address is one of this machine')
  await writeFile(join(folder, 'haproxy.cfg'), balancer)
  return { folder, etc, ca: authority.caFile, tokens, clients, workers, ports }
}
