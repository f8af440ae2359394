import type { BenchOptions } from './arguments.js'
import type { EventCase, Limit, Observation, RateCase } from './case.js'
import { type Contender, type Figures, limitContender, measure, serverContender } from './measure.js'
import { clientTls } from './server/certificates.js'
import { benchConfig, recycling } from './server/config.js'
import {
  remoteServer,
  type Server,
  type ServerProcess,
  type StartOptions,
  startBare,
  startBareHttp,
  startConfigured,
  startRemexec,
} from './server/process.js'

/**
 * For both of two builds that are compared. V8 compiles what runs through a ninth of the usual code, because a path with many functions is
 * not compiled after 10,000 uploads of 1 MiB, and then the build with more functions is behind for that alone.
 */
const COMPARED = ['--interrupt-budget=15000']

type Servers = Map<string, Promise<ServerProcess>>

const stopAll = async (servers: Servers): Promise<void> => {
  const started = await Promise.allSettled(servers.values())
  servers.clear()
  await Promise.all(started.map((server) => (server.status === 'fulfilled' ? server.value.stop() : undefined)))
}

/** The servers of a run: started when a case first needs them, stopped together. */
export class Run {
  readonly #options: BenchOptions
  readonly #servers: Servers = new Map()
  readonly #target: Server | undefined
  readonly #httpTarget: Server | undefined

  constructor(options: BenchOptions) {
    this.#options = options
    const { target, httpTarget } = options
    this.#target = target && remoteServer(target.address, target.instanceName, target.pid)
    this.#httpTarget = httpTarget && remoteServer(httpTarget.address, '', httpTarget.pid)
  }

  async rate(subject: RateCase): Promise<Figures> {
    const { against, processes } = this.#options
    // Equal processes of one build differ by up to a tenth for all their life, so two builds are compared by several.
    const count = against === undefined ? 1 : processes
    const lineups = Array.from({ length: count }, () => async () => {
      if (against !== undefined) await stopAll(this.#servers)
      return this.#contenders(subject)
    })
    try {
      return await measure(subject, lineups, this.#options)
    } finally {
      await subject.tearDown?.()
    }
  }

  /** Of this build, and of the other one where there is one. */
  async *observe(subject: EventCase): AsyncIterable<{ readonly build: string; readonly observation: Observation }> {
    const { against, profileFolder, rounds, isQuick } = this.#options
    for await (const observation of subject.observe({ cli: undefined, profileFolder, rounds, isQuick })) {
      yield { build: 'remexec', observation }
    }
    if (against === undefined) return
    for await (const observation of subject.observe({ cli: against, profileFolder: undefined, rounds, isQuick })) {
      yield { build: 'baseline', observation }
    }
  }

  async stop(): Promise<void> {
    await stopAll(this.#servers)
  }

  async #contenders(subject: RateCase): Promise<Contender[]> {
    const { against, profileFolder } = this.#options
    const contenders = [serverContender('remexec', subject, await this.#own(subject, { profileFolder }), false)]
    if (this.#target !== undefined && subject.configure === undefined) {
      contenders.push(serverContender('target', subject, this.#target, true))
    }
    const { setUpHttpTarget: setUp } = subject
    if (this.#httpTarget !== undefined && setUp !== undefined)
      contenders.push(serverContender('HTTP target', { ...subject, setUp }, this.#httpTarget, true))
    if (against !== undefined) {
      const baseline = await this.#own(subject, { cli: against })
      return [...contenders, serverContender('baseline', subject, baseline, true)]
    }
    for (const limit of subject.limits) {
      const { configure, env = subject.env } = limit
      const bare =
        configure === undefined
          ? await this.#bare(limit, profileFolder)
          : await this.#own({ ...subject, configure, ...(env && { env }) }, { profileFolder })
      contenders.push(limitContender(limit, subject, bare))
    }
    return contenders
  }

  #bare({ isBareHttp = false }: Limit, profileFolder: string | undefined): Promise<ServerProcess> {
    return isBareHttp
      ? this.#once('bare HTTP', () => startBareHttp(profileFolder))
      : this.#once('bare', () => startBare(profileFolder))
  }

  #own({ configure, place, env }: RateCase, options: StartOptions): Promise<ServerProcess> {
    const { configPath, against } = this.#options
    const usual = against === undefined ? benchConfig : recycling(benchConfig)
    const key = `${options.cli ?? ''} ${configure?.name ?? ''} ${place?.name ?? ''}`
    return this.#once(key, async () => {
      const nodeOptions = against === undefined ? [] : COMPARED
      const start = { ...options, nodeOptions, ...(env && { env: await env() }) }
      return configure === undefined && configPath !== undefined
        ? startConfigured(configPath, start)
        : startRemexec(configure ?? usual, { ...start, place, tls: clientTls })
    })
  }

  #once(key: string, start: () => Promise<ServerProcess>): Promise<ServerProcess> {
    const known = this.#servers.get(key) ?? start()
    this.#servers.set(key, known)
    return known
  }
}
