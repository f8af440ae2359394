import { StatusError } from '../../base/status-error.js'
import type { Addresses } from '../../download/addresses.js'
import { FROM_REGISTRY, imageFailure } from './failure.js'
import { Guard } from './guard.js'
import { type ImageTools, runTool } from './tool.js'

/** Where an image comes from. */
export interface ImageSource {
  /** `host/name@sha256:…` or `host/name:tag`. */
  readonly name: string
  /** The registry speaks plain HTTP. */
  readonly isPlain: boolean
  /** The addresses that may be connected to; undefined for a registry that the configuration lists. */
  readonly addresses: Addresses | undefined
}

export interface SkopeoRun {
  readonly tools: ImageTools
  readonly source: ImageSource
  /** After the program's name. */
  readonly args: readonly string[]
  /** The directory that it may write to; undefined for none. */
  readonly place?: string
  readonly timeoutMs: number
}

/** Variables that skopeo may need: certificates, proxies, and places of its own configuration. */
const PASSED = /^(PATH|HOME|SSL_CERT_(FILE|DIR)|(https?|no)_proxy|CONTAINERS_[A-Z_]+|REGISTRIES_[A-Z_]+)$/i
const OF_PROXIES = /_proxy$/i

/**
 * Runs in a sandbox without a network, in which nothing else listens: passes connections to its own loopback on to the socket
 * of the guard, so that skopeo finds a proxy there.
 */
const BRIDGE = `
const net = require('node:net'), { spawn } = require('node:child_process')
const [socket, program, ...args] = process.argv.slice(1)
const server = net.createServer((from) => {
  const to = net.connect(socket)
  const pass = (one, other) => one.on('error', () => one.destroy()).on('close', () => other.end()).pipe(other)
  pass(from, to)
  pass(to, from)
})
server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port
  const env = { ...process.env, HTTPS_PROXY: url, HTTP_PROXY: url }
  spawn(program, args, { stdio: 'inherit', env })
    .on('error', (error) => { console.error(error.message); process.exit(1) })
    .on('exit', (code) => process.exit(code ?? 1))
})`

/**
 * Runs skopeo in a sandbox that can write nothing but `place`, and that ends with this process. For a registry that is not listed it
 * has no network but the guard. Returns what it printed. Rejects with FAILED_PRECONDITION if the image is at fault.
 */
export const runSkopeo = async (run: SkopeoRun, signal: AbortSignal): Promise<Buffer> => {
  const { addresses, name } = run.source
  const guard = addresses && (await Guard.open(addresses))
  const { argv, environment } = confined(run, guard)
  try {
    return await runTool({ argv, environment, timeoutMs: run.timeoutMs, signal })
  } catch (error) {
    if (guard?.refused !== undefined && !signal.aborted) {
      const message = `the image ${name} could not be used: its registry leads elsewhere, and ${guard.refused.message}`
      throw new StatusError('FAILED_PRECONDITION', message, { cause: guard.refused })
    }
    throw imageFailure(name, error, FROM_REGISTRY)
  } finally {
    await guard?.close()
  }
}

const confined = ({ tools, args, place }: SkopeoRun, guard: Guard | undefined) => {
  const sandbox = [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--die-with-parent', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...(place === undefined ? [] : ['--bind', place, place]),
  ]
  const passed = Object.entries(process.env).filter(([variable]) => PASSED.test(variable))
  const environment = { ...Object.fromEntries(passed), TMPDIR: place ?? '/tmp' } as Record<string, string>
  if (guard === undefined) return { argv: [tools.bwrap, ...sandbox, '--', tools.skopeo, ...args], environment }
  const bridged = [process.execPath, '-e', BRIDGE, '--', guard.path, tools.skopeo, ...args]
  const own = Object.entries(environment).filter(([variable]) => !OF_PROXIES.test(variable))
  return {
    argv: [tools.bwrap, ...sandbox, '--unshare-net', '--', ...bridged],
    environment: Object.fromEntries(own),
  }
}
