/** A process that publishes events of one invocation, prints the number of each that is acknowledged, and never ends. */
import { systemClock } from '../../src/base/clock.js'
import { Builds } from '../../src/builds/builds.js'
import { Stream } from '../../src/builds/log/record.js'
import { silentLog } from '../../src/log/log.js'
import { LIMITS, progress } from './harness.js'

const [, , path = '', count = ''] = process.argv
const builds = await Builds.open({ path, ...LIMITS, clock: systemClock, log: silentLog })
const about = { instance: '', invocationId: 'one', buildId: 'b', keywords: [], startedMs: Date.now() }
const { invocation } = await builds.join(about)
for (let number = 1; number <= Number(count); number++) {
  const event = progress(`line ${number}`)
  void invocation
    .append({ stream: Stream.tool, number, event })
    .then(() => process.stdout.write(`acknowledged ${number}\n`))
}
setInterval(() => {}, 1000)
