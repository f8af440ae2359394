/** The network paths of workers to their scheduler. A test can cut each without a notice to either side. */
import { spawnSync } from 'node:child_process'
import { TcpProxy } from '../store/remote/proxy.js'

/** What a test gives to what runs for as long as it does. */
interface Scope {
  teardown(stop: () => unknown): void
}

export interface Line {
  /** What a program is started with to be at the far end. */
  readonly prefix: readonly string[]
  /** `host:port` of the scheduler, seen from there. */
  readonly scheduler: string
  /** From now on nothing comes through in either direction. */
  cut(): void
  mend(): void
}

export interface Network {
  readonly kind: 'network namespaces' | 'TCP proxies'
  /** Where the scheduler listens for workers: `host:0`. */
  readonly listen: string
  /** The way of a worker, once the port of the scheduler is known. */
  line(index: number, port: number): Promise<Line>
}

const ip = (...args: string[]): boolean => spawnSync('ip', args, { stdio: 'ignore' }).status === 0

const must = (...args: string[]): void => {
  if (!ip(...args)) throw new Error(`ip ${args.join(' ')} failed`)
}

/** Namespaces where this user may make them, proxies otherwise. */
export const openNetwork = (t: Scope): Network => {
  // Of the block for benchmarks (RFC 2544): a machine has no way there.
  const block = `198.18.${process.pid % 250}`
  const name = `rx${process.pid}`
  const address = `${block}.1`
  const isPrivileged = ip('netns', 'add', name) && ip('netns', 'del', name)
  if (!isPrivileged || !ip('addr', 'add', `${address}/32`, 'dev', 'lo')) return proxies(t)
  t.teardown(() => ip('addr', 'del', `${address}/32`, 'dev', 'lo'))
  return {
    kind: 'network namespaces',
    listen: `${address}:0`,
    line: async (index, port) => {
      const [space, near, far] = [`${name}-${index}`, `${name}n${index}`, `${name}f${index}`]
      const [host, own] = [`${block}.${8 + 4 * index + 1}`, `${block}.${8 + 4 * index + 2}`]
      must('netns', 'add', space)
      t.teardown(() => ip('netns', 'del', space) && ip('link', 'del', near))
      must('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', space)
      must('addr', 'add', `${host}/30`, 'dev', near)
      must('link', 'set', near, 'up')
      must('-n', space, 'addr', 'add', `${own}/30`, 'dev', far)
      must('-n', space, 'link', 'set', far, 'up')
      must('-n', space, 'link', 'set', 'lo', 'up')
      must('-n', space, 'route', 'add', 'default', 'via', host)
      return {
        prefix: ['ip', 'netns', 'exec', space],
        scheduler: `${address}:${port}`,
        cut: () => must('link', 'set', near, 'down'),
        mend: () => must('link', 'set', near, 'up'),
      }
    },
  }
}

const proxies = (t: Scope): Network => ({
  kind: 'TCP proxies',
  listen: '127.0.0.1:0',
  line: async (_, port) => {
    const proxy = await TcpProxy.start(t, port)
    return {
      ...{ prefix: [], scheduler: `127.0.0.1:${proxy.port}` },
      cut: () => {
        proxy.isStalled = true
      },
      mend: () => {
        proxy.isStalled = false
      },
    }
  },
})
