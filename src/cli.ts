#!/usr/bin/env node
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { stopMs, workMs } from './assembly/drain-time.js'
import type { Running } from './assembly/main.js'
import { systemClock } from './base/clock.js'
import { Code, StatusError } from './base/status-error.js'
import { version } from './base/version.js'
import type { Config } from './config/config.js'
import { formatProblems } from './config/format.js'
import { loadConfig } from './config/load.js'
import { ConfigError } from './config/problem.js'
import { validateCommand } from './config/validate-command.js'
import type { Log } from './log/log.js'
import { KnownSecrets } from './log/secrets.js'
import { type OtlpSettings, otlpSettings } from './otlp/settings.js'
import { tellOfCrashes, traceOf } from './process/crash.js'
import { GatheredOutput } from './process/gathered-output.js'
import { LogDescriptor } from './process/log-descriptor.js'
import { processLog } from './process/process-log.js'
import { endBy, firstStopSignal, type StopSignal } from './process/stop-signals.js'
import { keepObjectsYoung } from './process/young-objects.js'
import { tokenCommand } from './security/token-command.js'
import { LATE, within } from './work/deadline.js'

const USAGE = `remexec, a build cache and remote execution server

usage: remexec CONFIG                                 serve what CONFIG describes
       remexec validate [--format human|json] CONFIG...   check configurations
       remexec validate --explain CONFIG...           and show through which stores each service keeps its blobs
       remexec token NAME [--group GROUP]...          create an access token and its line for a tokens_file
       remexec --help | --version

CONFIG is a JSON5 or JSON file; every key is described in
${fileURLToPath(new URL('../docs/configuration.md', import.meta.url))}
Exit status: 0 fine, 1 the configuration is wrong or cannot be served, 2 wrong usage, 129, 130 or 143 after a signal.
`

class UsageError extends Error {}

const main = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse(args)
  if (values.help) return print(USAGE)
  if (values.version) return print(`remexec ${version()}\n`)
  const [first, ...rest] = positionals
  if (first === 'validate') {
    const format = values.format ?? 'human'
    if (format !== 'human' && format !== 'json') throw new UsageError(`--format ${format}: expected human or json`)
    if (rest.length === 0) throw new UsageError('validate: expected the path of a configuration')
    if (values.explain === true && format === 'json')
      throw new UsageError('--explain is for people: not with --format json')
    return validateCommand(rest, { format, explains: values.explain === true }, (text) => process.stdout.write(text))
  }
  if (first === 'token') return token(rest, values.group ?? [])
  if (values.group !== undefined) throw new UsageError('--group belongs to token')
  if (values.format !== undefined) throw new UsageError('--format belongs to validate')
  if (values.explain !== undefined) throw new UsageError('--explain belongs to validate')
  if (first === undefined) throw new UsageError('expected the path of a configuration')
  if (rest.length > 0) throw new UsageError(`expected one configuration, found ${positionals.length} arguments`)
  return serve(first)
}

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        format: { type: 'string' },
        explain: { type: 'boolean' },
        group: { type: 'string', multiple: true },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const print = (text: string): number => {
  process.stdout.write(text)
  return 0
}

const token = ([name, ...more]: readonly string[], groups: readonly string[]): number => {
  const isFit = (word: string): boolean => /^[^\s,#]+$/.test(word)
  if (name === undefined || more.length > 0 || !isFit(name))
    throw new UsageError('token: expected one NAME without blanks')
  if (!groups.every(isFit)) throw new UsageError('--group: expected a word without blanks and commas')
  return tokenCommand(name, groups, print)
}

const serve = async (path: string): Promise<number> => {
  keepObjectsYoung()
  const config = await loadConfig(path, { env: process.env, learn: (found) => void secrets.learn(found) })
  const log = processLog(config.global.log_level, process.env, output)
  if (config.warnings.length > 0) output.write(formatProblems(config.warnings, 'human'))
  const otlp = readOtlp(process.env, log)
  // Registered before the first part starts, so that a signal during the start also leads to a clean stop.
  return run(config, { otlp, log }, firstStopSignal())
}

interface Surroundings {
  readonly otlp: OtlpSettings
  readonly log: Log
}

const run = async (config: Config, { otlp, log }: Surroundings, stopSignal: Promise<StopSignal>): Promise<never> => {
  log.debug('starting')
  const drainMs = config.global.drain_s * 1000
  // Imported here, because `validate` does not need the server's modules and should be fast.
  const { assemble } = await import('./assembly/main.js')
  const starting = assemble(config, { clock: systemClock, log, otlp, logOutput: stderr, secrets })
  const early = await Promise.race([stopSignal, starting.then(() => undefined)])
  if (early !== undefined) return stopEarly(early, starting, drainMs, log)
  const server = await starting
  for (const { name, address, isSecure } of server.addresses) {
    log.info(`remexec serving ${isSecure ? 'grpcs' : 'grpc'}://${address}`, { server: name })
  }
  const asked = await stopSignal
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
  const patience = setTimeout(() => endBy(signal), workMs(drainMs) - asked.agoMs())
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
  for (const problem of problems) log.error(`nothing is exported because of it: ${problem}`)
  for (const warning of warnings) log.warn(warning)
  return settings
}

/** One line for known failures. An unexpected error gets its trace, for a bug report. */
const describeFailure = (error: unknown): string => {
  if (error instanceof StatusError && error.code !== Code.INTERNAL) return error.message
  if (error instanceof StatusError && error.cause !== undefined) return describeFailure(error.cause)
  return traceOf(error)
}

const secrets = new KnownSecrets()
const stderr = new LogDescriptor(process.stderr)
const output = new GatheredOutput(stderr, (text) => secrets.hideKnown(text))
process.once('exit', () => {
  output.flush()
  stderr.close()
})
tellOfCrashes({
  write: (text) => {
    output.write(text)
    output.flush()
  },
  secrets,
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    output.write(`remexec: ${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  } else if (error instanceof ConfigError) {
    output.write(formatProblems(error.problems, 'human'))
    process.exitCode = 1
  } else {
    output.write(`remexec: cannot serve: ${secrets.hide(describeFailure(error))}\n`)
    process.exitCode = 1
  }
}
