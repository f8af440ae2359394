#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from './base/clock.js'
import { type Log, textLog } from './base/log.js'
import { StatusError } from './base/status-error.js'
import type { Config } from './config/config.js'
import { formatProblems } from './config/format.js'
import { loadConfig } from './config/load.js'
import { ConfigError } from './config/problem.js'
import { validateCommand } from './config/validate-command.js'

const USAGE = `remexec, a build cache and remote execution server

usage: remexec CONFIG                                 serve what CONFIG describes
       remexec validate [--format human|json] CONFIG...   check configurations
       remexec --help | --version

CONFIG is a JSON5 or JSON file; every key is described in
${fileURLToPath(new URL('../docs/configuration.md', import.meta.url))}
Exit status: 0 fine, 1 the configuration is wrong or cannot be served, 2 wrong usage, 130 or 143 after a signal.
`

class UsageError extends Error {}

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String((manifest as { version: unknown }).version)
}

const main = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse(args)
  if (values.help) return print(USAGE)
  if (values.version) return print(`remexec ${version()}\n`)
  const [first, ...rest] = positionals
  if (first === 'validate') {
    const format = values.format ?? 'human'
    if (format !== 'human' && format !== 'json') throw new UsageError(`--format ${format}: expected human or json`)
    if (rest.length === 0) throw new UsageError('validate: expected the path of a configuration')
    return validateCommand(rest, format, (text) => process.stdout.write(text))
  }
  if (values.format !== undefined) throw new UsageError('--format belongs to validate')
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

const serve = async (path: string): Promise<number> => {
  const config = await loadConfig(path, { env: process.env })
  const log = textLog(config.global.log_level, (line) => process.stderr.write(line))
  if (config.warnings.length > 0) process.stderr.write(formatProblems(config.warnings, 'human'))
  // Heard from before the first part starts, so that a signal during start-up ends in a clean stop too.
  const stopSignal = nextSignal('SIGINT', 'SIGTERM')
  return run(config, log, stopSignal)
}

const run = async (config: Config, log: Log, stopSignal: Promise<NodeJS.Signals>): Promise<number> => {
  // Loaded here, because checking a configuration needs none of what serves one and should be quick.
  const { assemble } = await import('./main.js')
  const server = await assemble(config, { clock: systemClock, log })
  for (const { name, address } of server.addresses) log.info(`remexec serving grpc://${address}`, { server: name })
  const signal = await stopSignal
  log.info('stopping', { signal })
  await server.close()
  return 128 + constants.signals[signal]
}

/** A second signal finds no handler and ends the process at once. */
const nextSignal = (...signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(signal))
  })

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`remexec: ${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  } else if (error instanceof ConfigError) {
    process.stderr.write(formatProblems(error.problems, 'human'))
    process.exitCode = 1
  } else {
    // A StatusError says what is wrong; the trace of anything else is for a bug report.
    const reason = error instanceof Error && !(error instanceof StatusError) ? error.stack : String(error)
    process.stderr.write(`remexec: cannot serve: ${reason}\n`)
    process.exitCode = 1
  }
}
