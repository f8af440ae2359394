import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { findTools } from '../../src/worker/image/tool.js'
import { Registry } from '../../test/worker/image/registry.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { digestOf, store } from '../content.js'
import { each } from '../load/each.js'
import { benchConfig } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { median } from '../statistics.js'
import { checkOperation } from './true.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const directory = codec(`${REAPI}.Directory`)
const action = codec(`${REAPI}.Action`)
const command = codec(`${REAPI}.Command`)

/** Of each kind in a round, one after the other. */
const ACTIONS = 100
/** Until V8 has compiled what an action uses, in the server and in its worker. */
const WARM_UP = 1_000

/** One worker with these options more, and a scheduler that takes actions with any property. */
const withWorker =
  (options: object) =>
  (dataPath: string): object => {
    const config = benchConfig(dataPath) as { readonly workers: readonly { readonly local: object }[] }
    const workers = config.workers.map(({ local }) => ({ local: { ...local, ...options } }))
    const schedulers = [{ name: 'MAIN', simple: { supported_platform_properties: { '*': 'ignore' } } }]
    return { ...config, schedulers, workers }
  }

const alone = withWorker({ use_namespaces: true })

/** With a registry that has no TLS. */
const withImages = (host: string) =>
  withWorker({
    use_namespaces: true,
    use_mount_namespace: true,
    container_images: { registries: [`http://${host}`] },
  })

/** How long actions that run `/bin/true` take, each. `image` is the value of their property. */
const actionMs = async (server: ServerProcess, image: string | undefined, count: number): Promise<number> => {
  const properties = image === undefined ? [] : [{ name: 'container-image', value: image }]
  const line = command.encode({ arguments: ['/bin/true'], platform: { properties } })
  const root = directory.encode({})
  const actions = Array.from({ length: count }, () =>
    action.encode({ commandDigest: digestOf(line), inputRootDigest: digestOf(root), salt: randomBytes(16) }),
  )
  await store(server, [line, root, ...actions])
  const { instanceName } = server
  const calls = actions.map((one) => ({
    path: `/${REAPI}.Execution/Execute`,
    messages: [executeRequest.encode({ instanceName, actionDigest: digestOf(one) })],
  }))
  const { latenciesMs } = await each(server, calls, { concurrency: 1, check: checkOperation })
  return median(latenciesMs)
}

/** The registry of an image that has `/bin/true` of this machine. */
const openRegistry = async (stops: (() => unknown)[]) => {
  // It looks for programs of this machine when it is loaded.
  const { programs, SYSTEM } = await import('../../test/worker/image/set-up.js')
  const registry = await Registry.start({ teardown: (stop) => void stops.unshift(stop) })
  const programsOfIt = programs('true').filter(({ path }) => path.startsWith('opt/tools/'))
  const digest = registry.push('bench', '1', { layers: [[...SYSTEM, ...programsOfIt]] })
  return { registry, image: `docker://${registry.host}/bench@${digest}` }
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const inImage: number[] = []
  const beside: number[] = []
  const stops: (() => unknown)[] = []
  const open = async (configure: (dataPath: string) => object): Promise<ServerProcess> => {
    const server = await startRemexec(configure, { cli, profileFolder })
    stops.unshift(() => server.stop())
    return server
  }
  try {
    const { registry, image } = await openRegistry(stops)
    const kinds = [
      { server: await open(alone), image: undefined, values: beside },
      { server: await open(withImages(registry.host)), image, values: inImage },
    ]
    for (const kind of kinds) await actionMs(kind.server, kind.image, isQuick ? ACTIONS : WARM_UP)
    for (let round = 0; round < rounds; round++) {
      // In turns, each first in every second round.
      const order = round % 2 === 0 ? kinds : kinds.toReversed()
      for (const kind of order) kind.values.push(await actionMs(kind.server, kind.image, ACTIONS))
    }
  } finally {
    for (const stop of stops) await stop()
  }
  const name = 'use_namespaces alone'
  yield { name: 'an action in an image that is here', unit: 'ms', values: inImage, beside: { name, values: beside } }
  const added = inImage.map((ms, round) => ms - (beside[round] as number))
  yield { name: `what that adds to ${name}`, unit: 'ms', values: added }
}

const canRun = (): boolean => {
  try {
    findTools()
    return true
  } catch {
    return false
  }
}

/** What an image costs an action, beside a sandbox alone. Needs bubblewrap, skopeo and umoci. */
export const imageCases = (): readonly EventCase[] =>
  canRun() ? [{ kind: 'event', name: 'container image', observe }] : []
