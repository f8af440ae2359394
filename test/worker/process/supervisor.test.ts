import t from 'tap'
import type { LocalWorkerOptions } from '../../../src/config/config.js'
import { silentLog } from '../../../src/log/log.js'
import { WorkerProcess } from '../../../src/worker/process/supervisor.js'
import { noDescriptors, withoutPrlimit } from '../../no-descriptors.js'

t.test(
  'a worker whose process cannot be started for want of a descriptor ends no server',
  { skip: withoutPrlimit },
  async (t) => {
    let lent = 0
    const lend = () => {
      lent += 1
      return () => void lent--
    }
    const parts = {
      ...{
        name: 'w',
        address: '127.0.0.1:1',
        token: undefined,
        writesResults: false,
        hidden: [],
        lend,
        log: silentLog,
      },
      program: '/nowhere.js',
      options: { additional_environment: new Map() } as unknown as LocalWorkerOptions,
    }
    const freed = await noDescriptors()
    const started = WorkerProcess.start(parts).finally(freed)
    await t.rejects(started, { code: 14, message: /its process ended: spawn .* EMFILE/ })
    t.equal(lent, 0, 'no store is lent to it any more')
  },
)
