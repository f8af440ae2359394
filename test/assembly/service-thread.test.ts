import t from 'tap'
import type { ServiceThreadData } from '../../src/assembly/threads/service-threads.js'
import type { ServingToOwner, ToThread } from '../../src/assembly/threads/thread-calls.js'
import { programFile } from '../../src/base/package-root.js'
import { Ledger } from '../../src/ledger/ledger.js'
import type { ThreadChannel } from '../../src/server/threads/channel.js'
import { ServiceThreads } from '../../src/server/threads/service-threads.js'
import type { ThreadListenerOptions } from '../../src/server/threads/thread-listener.js'
import { until } from '../until.js'

const LISTENER: ThreadListenerOptions = {
  ...{ tls: undefined, maxMessageBytes: 1024, firstBytesMs: 1000, readOffMs: 1000, limits: {} },
  compression: { sendsGzip: false, accepted: [] },
}

t.test(
  'the log has the lines of the turn in which a thread ends, rules that it could not use among them',
  async (t) => {
    const { buffer: ledgerBuffer } = new Ledger({}, {})
    if (ledgerBuffer === undefined) throw new Error('the ledger is shared')
    const data: ServiceThreadData = { ledgerBuffer, logLevel: new SharedArrayBuffer(4), shownShare: 0 }
    const lines: string[] = []
    const channels: ThreadChannel<ToThread>[] = []
    const threads = await ServiceThreads.start<Pick<ServingToOwner, 'log'>, ToThread>({
      count: 1,
      program: programFile('assembly/threads/service-thread.ts'),
      data,
      hear: (thread) => {
        channels.push(thread)
        return { log: (level, message) => void lines.push(`${level}: ${message}`) }
      },
    })
    const [channel] = channels
    channel?.send('listener', 1, LISTENER)
    channel?.send('gate', undefined as never)
    // There is no such descriptor.
    channel?.send('socket', 1, { number: 1, fd: 1 << 29, row: 0, isUnix: false, head: new Uint8Array() })
    await t.rejects(
      threads.started(() => new Promise(() => {})),
      { message: 'service thread 1 of 1 cannot start' },
    )
    await until(() => lines.length > 0)
    t.same(lines, ['error: a message of the owner failed'])
    await threads.stop()
  },
)
