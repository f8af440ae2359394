import { resolve } from 'node:path'
import type { Running } from '../assembly/main.js'
import { version } from '../base/version.js'
import type { Config } from '../config/config.js'
import { withNested } from '../config/store-path.js'
import { parseSize } from '../config/value/size.js'
import { bazelLines, clientFacts } from '../pages/server/client-lines.js'
import { cacheFolder, xdgCacheFolder } from './cache-folder.js'
import { type Arguments, type Command, textOption, UsageError } from './command.js'
import { recipeFile } from './recipes.js'
import { serve } from './serve.js'

/** The recipe that `remexec start` serves. */
export const DEFAULT_CONFIG = recipeFile('machine', 'remexec.json5')

/** One eviction frees this share of the CAS, at most a gigabyte. */
const EVICTED_SHARE = 20
const MAX_EVICTED_BYTES = 1e9

export const start: Command = {
  name: 'start',
  usage: [['[--dir DIR] [--size SIZE] [--port PORT] [--host HOST]', 'serve this machine, without a configuration']],
  details: [
    ['--dir DIR', 'folder of all data (default ~/.cache/remexec, or in XDG_CACHE_HOME)'],
    ['--size SIZE', 'limit of the blobs on disk, such as 50gb (default 20gb)'],
    ['--port PORT', 'port for clients and for the page (default 50051)'],
    ['--host HOST', 'address to listen on (default 127.0.0.1); anyone who reaches it may run commands'],
  ],
  options: { dir: { type: 'string' }, size: { type: 'string' }, port: { type: 'string' }, host: { type: 'string' } },
  run: async (args, console) => {
    if (args.words.length > 0) throw new UsageError(`expected options only, found ${args.words[0]}`)
    const env = { ...process.env, ...variablesOf(args) }
    return serve(DEFAULT_CONFIG, console, {
      env,
      onReady: (config, server) => console.print(welcome(config, server, env['REMEXEC_DATA'] ?? cacheFolder(env))),
    })
  },
}

/** The variables of the default configuration without options. */
export const startVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...variablesOf({ words: [], options: {} }),
})

/** The options as variables of the default configuration. */
const variablesOf = (args: Arguments): NodeJS.ProcessEnv => {
  const [dir, size, port, host] = ['dir', 'size', 'port', 'host'].map((name) => textOption(args, name))
  if (dir === '') throw new UsageError('--dir: expected a folder')
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536))
    throw new UsageError(`--port ${port}: expected a number from 0 to 65535`)
  const data = dir === undefined ? process.env['REMEXEC_DATA'] || xdgCacheFolder(process.env) : resolve(dir)
  return {
    ...(data !== undefined && { REMEXEC_DATA: data }),
    ...(size !== undefined && sizesOf(size)),
    ...(port !== undefined && { REMEXEC_PORT: port }),
    ...(host !== undefined && { REMEXEC_HOST: host.includes(':') && !host.startsWith('[') ? `[${host}]` : host }),
    // Only the worker of this process uses this listener, so that any free port will do.
    REMEXEC_WORKER_PORT: process.env['REMEXEC_WORKER_PORT'] ?? '0',
  }
}

const sizesOf = (size: string): NodeJS.ProcessEnv => {
  const bytes = sizeOf(size)
  const evicted = Math.min(MAX_EVICTED_BYTES, Math.floor(bytes / EVICTED_SHARE))
  return { REMEXEC_CAS_SIZE: String(bytes), REMEXEC_CAS_EVICT: String(evicted) }
}

const sizeOf = (size: string): number => {
  try {
    return parseSize(size)
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`--size ${size}: ${error.message}; expected 50gb or 50GiB`)
    throw error
  }
}

/** What somebody needs who has just started it: address, page, flag and folder. */
const welcome = (config: Config, { addresses }: Running, dir: string): string => {
  const address = reachable(addresses[0]?.address ?? '')
  const [server] = config.servers
  if (server === undefined) throw new Error('the default configuration has no server')
  const facts = clientFacts(server, address, config.security !== undefined)
  const rows = [
    ['address', `grpc://${address}`],
    ['page', `http://${address}/`],
    ['.bazelrc', ''],
    ...bazelLines(facts).map((line) => ['', line]),
    ['', '(build --remote_cache in place of --remote_executor shares results only)'],
    ['data', `${dir}: ${limitsOf(config)}`],
  ]
  return [`remexec ${version()} is ready`, ...rows.map(([name = '', text]) => `  ${name.padEnd(8)} ${text}`), ''].join(
    '\n',
  )
}

/** An address that listens everywhere is reached on this machine at the loopback address. */
const reachable = (address: string): string => address.replace(/^(0\.0\.0\.0|\[::\]):/, '127.0.0.1:')

/** `CAS at most 20 GB, AC at most 1 GB`. */
const limitsOf = ({ stores }: Config): string =>
  [...stores]
    .map(([name, store]) => {
      const parts = [...withNested(store)].map((part) =>
        part.kind === 'filesystem' ? part.options.eviction_policy.max_bytes : 0,
      )
      return `${name} at most ${gigabytes(parts.reduce((sum, bytes) => sum + bytes, 0))}`
    })
    .join(', ')

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`
