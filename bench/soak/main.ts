import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { machine } from '../machine.js'
import { whenWorkerRuns } from './acts/actions.js'
import { actsWith } from './acts.js'
import { Clients } from './clients.js'
import { startOrigin } from './origin.js'
import { type Sample, SoakedServer } from './server.js'
import { faultsOf } from './verdict.js'

const USAGE = `npm run soak -- [options]

  --minutes N    how long clients come (default 60)
  --pause MS     what a client waits between two acts, on average (default 1500; 0 is as fast as they can)
  --samples N    how often the server is asked for its memory meanwhile (default 60); each time it collects all garbage
  --only TEXT    only acts whose name contains it
`
/** Long enough for greetings that end halfway, and for what stays behind a cut connection. */
const SETTLE_MS = 15_000

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const positive = (name: string, text: string): number => {
  const number = Number(text)
  if (text !== '' && number >= 0) return number
  process.stderr.write(`--${name} ${text}: expected a number\n\n${USAGE}`)
  return process.exit(2)
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    minutes: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    pause: { type: 'string', default: '1500' },
    samples: { type: 'string', default: '60' },
  },
})

const HEADING = ['minute', 'acts', 'under way', 'resident', 'live', 'descriptors', 'calls', 'CPU s']

const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, index) => String(cell).padStart(HEADING[index]?.length ?? 0)).join('  ')

const rowOf = (sample: Sample, minute: number, clients: Clients): string => {
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
  const { residentBytes, liveBytes, descriptors, calls, cpuMicros } = sample
  const memory = [mib(residentBytes), mib(liveBytes)]
  const cpu = (cpuMicros / 1e6).toFixed(0)
  return row([minute.toFixed(1), clients.performed, clients.underWay, ...memory, descriptors, calls, cpu])
}

interface Options {
  readonly minutes: number
  readonly pauseMs: number
  readonly samples: number
  readonly only: string
}

const soak = async ({ minutes, pauseMs, samples, only }: Options): Promise<void> => {
  const originPort = await startOrigin()
  const acts = actsWith(originPort).filter(({ name }) => name.includes(only))
  if (acts.length === 0) throw new Error(`no act has ${only} in its name`)
  const server = await SoakedServer.start(originPort)
  await whenWorkerRuns(server.port)
  const clients = new Clients(server.port, pauseMs)
  const startMs = performance.now()
  const tell = <S extends Sample>(sample: S): S => {
    say(rowOf(sample, (performance.now() - startMs) / 60_000, clients))
    return sample
  }
  say(`${machine()}\n${minutes} minutes, ${pauseMs} ms between two acts of a client; memory in MiB\n${row(HEADING)}`)
  const before = tell(await server.wholeSample())
  clients.begin(acts)
  const during: Sample[] = []
  while (during.length < samples) {
    await setTimeout((minutes * 60_000) / samples)
    during.push(tell(await server.sample()))
  }
  await clients.end()
  await setTimeout(SETTLE_MS)
  const after = tell(await server.wholeSample())
  say('    times  slowest, s  act')
  for (const [name, { times, slowestMs }] of clients.counts) {
    say(`${String(times).padStart(9)}  ${(slowestMs / 1000).toFixed(1).padStart(10)}  ${name}`)
  }
  const stopMs = await server.stop()
  const { starved } = server
  const errors = server.errors.filter((line) => !starved.includes(line))
  if (starved.length > 0) say(`${starved.length} health probes were late while the server waited for a processor`)
  const faults = faultsOf({ before, during, after, failures: clients.failures, errors, stopMs })
  for (const failure of clients.failures) say(`a client failed: ${failure}`)
  say(faults.length === 0 ? 'held' : `did not hold:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
  process.exit(faults.length === 0 ? 0 : 1)
}

if (values.help) say(USAGE)
else
  await soak({
    minutes: positive('minutes', values.minutes),
    pauseMs: positive('pause', values.pause),
    samples: positive('samples', values.samples),
    only: values.only,
  })
