import { execFileSync, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import t from 'tap'
import { pinApart, pinned } from '../../bench/server/pin.js'

const ownProcessors = ['-e', `process.stdout.write(require('fs').readFileSync('/proc/self/status', 'utf8'))`]
const processorsOf = (command: string, args: readonly string[]): string =>
  /Cpus_allowed_list:\s*(.*)/.exec(execFileSync(command, args, { encoding: 'utf8' }))?.[1] ?? ''

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

t.test(
  '--pin gives servers other processors than the load',
  { skip: !canPin && 'one processor, or no taskset' },
  async (t) => {
    t.strictSame(pinned('node', ['cli.js']), ['node', ['cli.js']], 'nothing is pinned before')
    pinApart()
    const ofLoad = processorsOf(process.execPath, ownProcessors)
    const ofServers = processorsOf(...pinned(process.execPath, ownProcessors))
    t.not(ofServers, ofLoad)
    t.match(ofLoad, /^\d/)
    t.match(ofServers, /^\d/)
  },
)
