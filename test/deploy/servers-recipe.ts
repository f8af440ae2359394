/** The folder that the recipe `servers` describes, with free ports of this machine. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { root, scratchFolder } from '../clients/scratch.js'
import { freePorts } from '../store/remote/backend.js'
import { makeEtc, type RecipeEtc } from './recipe-etc.js'

export const RECIPE = join(root, 'deploy/recipes/servers')

export interface ServersRecipe extends RecipeEtc {
  readonly folder: string
  /** Of the balancer. */
  readonly clients: number
  readonly workers: number
  /** Of each server. */
  readonly ports: readonly { readonly clients: number; readonly workers: number; readonly peers: number }[]
}

export const prepareServers = async (t: Test): Promise<ServersRecipe> => {
  const folder = await scratchFolder(t)
  const made = await makeEtc(folder, ['peers', 'workers', 'ci'])
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
  return { folder, ...made, clients, workers, ports }
}
