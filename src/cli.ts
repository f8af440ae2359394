#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { errnoOf, inWords } from './base/errno.js'
import { packageFile } from './base/package-root.js'
import { Code, StatusError } from './base/status-error.js'
import { version } from './base/version.js'
import { type Arguments, type Console, type OptionTypes, UsageError } from './command/command.js'
import { commandNamed, isCommand, meantCommand, ownerOf, usage, usageOf } from './command/commands.js'
import { ConfigError } from './config/problem.js'
import { KnownSecrets } from './log/secrets.js'
import { keepCompiledCode } from './process/code-cache.js'
import { reportCrashes, traceOf } from './process/crash.js'
import { GatheredOutput } from './process/gathered-output.js'
import { LogDescriptor } from './process/log-descriptor.js'

const main = async (args: readonly string[]): Promise<number> => {
  const [first = '', ...rest] = args
  const command = await commandNamed(first === 'help' ? (rest[0] ?? '') : first)
  if (first === 'help') return print(command === undefined ? help() : usageOf(command))
  if (command !== undefined) {
    const read = await parse(rest, command.options)
    return read.options['help'] === true ? print(usageOf(command)) : command.run(read, console)
  }
  const { words, options } = await parse(args, { version: { type: 'boolean' } })
  if (options['help'] === true) return print(help())
  if (options['version'] === true) return print(`remexec ${version()}\n`)
  const [path, ...more] = words
  if (path === undefined) {
    const found = (await import('./command/default-config.js')).defaultConfig(process.env)
    if (found === undefined) return (await import('./command/start.js')).start.run({ words, options }, console)
    return (await import('./command/serve.js')).serve(found, console)
  }
  const meant = existsSync(path) ? undefined : meantCommand(path)
  if (meant !== undefined) throw new UsageError(`there is no command ${path}: did you mean ${meant}?`)
  if (more.length > 0) throw new UsageError(`expected one configuration, found ${words.length} arguments`)
  const { serve } = await import('./command/serve.js')
  return serve(path, console)
}

const parse = async (args: readonly string[], options: OptionTypes): Promise<Arguments> => {
  try {
    const allOptions = { help: { type: 'boolean', short: 'h' }, ...options } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: allOptions })
    return { words: positionals, options: values as Arguments['options'] }
  } catch (error) {
    // Node adds a sentence about arguments that begin with a dash.
    const [message] = (error instanceof Error ? error.message : String(error)).split('. ')
    const owner = await ownerOf(/'--([a-z-]+)/.exec(message ?? '')?.[1] ?? '')
    throw new UsageError(owner === undefined ? message : `${message}: it belongs to remexec ${owner}`)
  }
}

const help = (): Promise<string> => usage(fileURLToPath(packageFile('docs/')))

const print = async (text: string | Promise<string>): Promise<0> => {
  console.print(await text)
  return 0
}

/** One line for known failures. An unexpected error gets its trace, for a bug report. */
const describeFailure = (error: unknown): string => {
  if (error instanceof StatusError && error.code !== Code.INTERNAL) return error.message
  if (error instanceof StatusError && error.cause !== undefined) return describeFailure(error.cause)
  return traceOf(error)
}

const secrets = new KnownSecrets()
const descriptor = new LogDescriptor(process.stderr)
const errors = new GatheredOutput(descriptor, (text) => secrets.hideKnown(text))
const write = (bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
const console: Console = { print: (text) => process.stdout.write(text), write, errors, descriptor, secrets }
process.once('exit', () => {
  errors.flush()
  descriptor.close()
})
// A reader that ends early, such as `head`, is no failure of a command; a server does not end because of it.
process.stdout.on('error', (error) => {
  if (errnoOf(error) === 'EPIPE') return
  errors.write(`remexec: standard output: ${inWords(error)}\n`)
  process.exitCode = 1
})
reportCrashes({
  write: (text) => {
    errors.write(text)
    errors.flush()
  },
  secrets,
})

// Before a command loads its modules. The processes of a server read the variable.
const codeFolder = keepCompiledCode(process.env)
if (codeFolder !== undefined) process.env['NODE_COMPILE_CACHE'] = codeFolder

const [, , first = ''] = process.argv
const name = isCommand(first) ? first : undefined
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    const [prefix, help] = name === undefined ? ['', 'remexec --help'] : [`${name}: `, `remexec ${name} --help`]
    errors.write(`remexec: ${prefix}${error.message}\ntry: ${help}\n`)
    process.exitCode = 2
  } else if (error instanceof ConfigError) {
    const { formatProblems } = await import('./config/format.js')
    errors.write(formatProblems(error.problems, 'human'))
    process.exitCode = 1
  } else {
    // Not every name is a verb: `cannot cas` says nothing.
    const failure = name === undefined ? 'cannot serve' : `${name} failed`
    errors.write(`remexec: ${failure}: ${secrets.hide(describeFailure(error))}\n`)
    process.exitCode = 1
  }
}
