import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
// biome-ignore lint/plugin: the bystander asks at a steady rate for as long as the attack is watched
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, smallCall } from './attacks.js'
import { Caller } from './calls.js'
import { startAttacked } from './server.js'

/** Addresses of this machine: the server bounds what it holds for each. */
const [ATTACKER, BYSTANDER, OWNER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const

export interface Outcome {
  readonly beforeMib: number
  readonly mostMib: number
  readonly afterMib: number
  /** Of the small calls of the bystander, in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly calls: number
  /** Calls of the bystander that did not end well: their statuses. */
  readonly failures: readonly string[]
}

export interface RunOptions {
  readonly watchMs: number
  readonly threads?: number
}

/** Runs one attack on a fresh server while a bystander calls, for `watchMs` after everything was sent. */
export const run = async (attack: Attack, cli: string, { watchMs, threads = 1 }: RunOptions): Promise<Outcome> => {
  const server = await startAttacked(cli, threads)
  const callers: Caller[] = []
  const connect = async (address: string, settings?: Buffer): Promise<Caller> => {
    const caller = await Caller.from(address, server.port, settings)
    callers.push(caller)
    return caller
  }
  const sockets: Socket[] = []
  const connectHttp1 = async (): Promise<Socket> => {
    const socket = connectTcp({ port: server.port, host: '127.0.0.1', localAddress: ATTACKER })
    sockets.push(socket.on('error', () => {}))
    await once(socket, 'connect')
    return socket
  }
  try {
    const [bystander, owner] = [await connect(BYSTANDER), await connect(OWNER)]
    for (let call = 0; call < 50; call++) await smallCall(bystander)
    const { now: beforeMib } = server.residentMib()
    const parts = { owner, connect: (settings?: Buffer) => connect(ATTACKER, settings), connectHttp1 }
    let isSent = false
    const sent = attack.begin(parts).finally(() => {
      isSent = true
    })
    const times: number[] = []
    const failures: string[] = []
    let untilMs = Number.POSITIVE_INFINITY
    // biome-ignore lint/plugin: ends with the time to watch; each call in it has a deadline
    while (performance.now() < untilMs) {
      const small = await smallCall(bystander)
      times.push(small.ms)
      if (small.status !== '0') failures.push(`small ${small.status}`)
      if (isSent) {
        // biome-ignore lint/plugin: the time to watch, from the end of the attack
        if (untilMs === Number.POSITIVE_INFINITY) untilMs = performance.now() + watchMs
        const probed = await attack.probe?.(bystander)
        if (probed !== undefined && probed.status !== '0') failures.push(`probe ${probed.status}`)
      }
      await sleep(10)
    }
    await sent
    const { now: afterMib, most: mostMib } = server.residentMib()
    times.sort((a, b) => a - b)
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN
    return { beforeMib, mostMib, afterMib, p50: at(0.5), p99: at(0.99), calls: times.length, failures }
  } finally {
    for (const caller of callers) caller.close()
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
}
