import { constants } from 'node:os'
import { stopMs, workMs } from '../assembly/drain-time.js'
import type { Running } from '../assembly/main.js'
import { systemClock } from '../base/clock.js'
import { guardedTimeout } from '../base/timers.js'
import type { Config } from '../config/config.js'
import { formatProblems } from '../config/format.js'
import { loadConfig } from '../config/load.js'
import type { Environment } from '../config/read/environment.js'
import type { Log } from '../log/log.js'
import { type OtlpSettings, otlpSettings } from '../otlp/settings.js'
import { surviveFailures } from '../process/failures.js'
import { endOfLife } from '../process/node-version.js'
import { followProxy } from '../process/outgoing-proxy.js'
import { processLog } from '../process/process-log.js'
import { serviceManager } from '../process/service-manager.js'
import { endBy, firstStopSignal, type StopSignal } from '../process/stop-signals.js'
import { prepareHeap } from '../process/v8-heap.js'
import { LATE, within } from '../work/deadline.js'
import type { Console } from './command.js'
import { Reload } from './reload.js'

export interface ServeOptions {
  /** The variables that the configuration may name. */
  readonly env?: Environment
  /** Called once the server is ready. */
  readonly onReady?: (config: Config, server: Running) => void
}

/** Serves the configuration in a file until a signal ends the process. */
export const serve = async (path: string, console: Console, options: ServeOptions = {}): Promise<never> => {
  prepareHeap()
  const { env = process.env, onReady } = options
  const config = await loadConfig(path, { env, learn: (found) => void console.secrets.learn(found) })
  const log = processLog(config.global.log_level, process.env, console.errors)
  surviveFailures(log)
  const ended = endOfLife(process.versions.node)
  if (ended !== undefined) log.info(ended, { node: process.versions.node })
  if (config.warnings.length > 0) console.errors.write(formatProblems(config.warnings, 'human'))
  // Registered before the first part starts, so that a signal during the start also leads to a clean stop.
  let reread = (): void => log.info('SIGHUP: the start is not complete; the configuration is not read again')
  const stopSignal = firstStopSignal(() => reread())
  const manager = serviceManager(process.env, log)
  manager.starting()
  const otlp = readOtlp(process.env, log)
  await followProxy(process.env, log)
  log.debug('starting', { config: path })
  const drainMs = config.global.drain_s * 1000
  // Imported here, because other commands do not need the server's modules and should be fast.
  const { assemble } = await import('../assembly/main.js')
  const starting = assemble(config, {
    clock: systemClock,
    log,
    otlp,
    logOutput: console.descriptor,
    secrets: console.secrets,
  })
  const early = await Promise.race([stopSignal, starting.then(() => undefined)])
  if (early !== undefined) {
    manager.stopping('stopping before the start is complete')
    return stopEarly(early, starting, drainMs, log)
  }
  const server = await starting
  const served = server.addresses.map(({ name, address, isSecure }) => {
    const uri = address.startsWith('unix:') ? address : `${isSecure ? 'grpcs' : 'grpc'}://${address}`
    log.info(`remexec serving ${uri}`, { server: name })
    return uri
  })
  const tellReady = (): void => manager.ready(`serving ${served.join(', ')}`)
  const reload = new Reload({ path, console, env, log, server, onEnd: tellReady })
  reread = () => {
    manager.reloading()
    reload.begin()
  }
  onReady?.(config, server)
  tellReady()
  const asked = await stopSignal
  manager.stopping(`stopping: actions get ${drainMs / 1000} s`)
  log.info('stopping', { signal: asked.signal })
  return stop(server, asked, drainMs, log)
}

/**
 * Stops a server that is still starting, once its start is complete. The wait is limited to the time for work in
 * flight.
 */
const stopEarly = async (asked: StopSignal, starting: Promise<Running>, drainMs: number, log: Log): Promise<never> => {
  const { signal } = asked
  log.info('stopping before the start is complete', { signal })
  const patience = guardedTimeout(() => endBy(signal), workMs(drainMs) - asked.agoMs())
  const server = await starting.finally(() => clearTimeout(patience))
  return stop(server, asked, drainMs, log)
}

/** Ends the process within its time limit, because the sender of the signal would kill it a little later. */
const stop = async (server: Running, { signal, agoMs }: StopSignal, drainMs: number, log: Log): Promise<never> => {
  const limitMs = Math.max(0, stopMs(drainMs) - agoMs())
  if ((await within(limitMs, server.close(agoMs()))) === LATE) {
    log.warn('the stop took too long: the process ends with what is still open', { drain_s: drainMs / 1000 })
    endBy(signal)
  }
  log.info('stopped', { seconds: Math.round(agoMs() / 100) / 10 })
  // Unsent exports to a slow collector must not keep the process alive.
  process.exit(128 + constants.signals[signal])
}

const readOtlp = (env: NodeJS.ProcessEnv, log: Log): OtlpSettings => {
  const { settings, problems, warnings } = otlpSettings(env)
  for (const problem of problems) log.error(problem)
  for (const warning of warnings) log.warn(warning)
  return settings
}
