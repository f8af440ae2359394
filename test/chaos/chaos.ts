import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { boundedMap } from '../../src/work/bounded-map.js'
import { type BuiltAction, buildAction } from '../service/execution-harness.js'
import { PatientClient } from './client.js'
import { FAULTS } from './faults.js'
import { Fleet, PLACES, processesWith, until } from './fleet.js'
import { openNetwork } from './network.js'

const marker = `REMEXEC_CHAOS=${randomBytes(8).toString('hex')}`

interface Work {
  readonly built: BuiltAction
  readonly exitCode: number
  readonly output: string
}

/** Half a second on average, some much longer; some fail, some may not be cached, some need half a worker. */
const workOf = (index: number, trace: string): Work => {
  const exitCode = index % 17 === 3 ? 3 : 0
  const seconds = index % 10 === 0 ? 2 : ((index * 7) % 10) / 10
  const output = `${index}\n`
  const script = `echo $$ >> ${trace}/${index}; sleep ${seconds} & wait; echo ${index} > out; exit ${exitCode}`
  const [name, value] = marker.split('=')
  const built = buildAction({
    command: {
      arguments: ['/bin/sh', '-c', script],
      environmentVariables: [
        { name: 'PATH', value: process.env['PATH'] ?? '' },
        { name: name ?? '', value: value ?? '' },
      ],
      outputPaths: ['out'],
    },
    action: {
      salt: Buffer.from(marker),
      doNotCache: index % 13 === 5,
      platform: { properties: [{ name: 'cpu', value: index % 5 === 0 ? '2' : '1' }] },
    },
  })
  return { built, exitCode, output }
}

const descriptorsOf = (pid: number | undefined): number => readdirSync(`/proc/${pid}/fd`).length

/** Every file below, except the lock socket of the running process. */
const namesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.isSocket())
    .map(({ parentPath, name }) => join(parentPath, name))

export interface ChaosOptions {
  readonly actionCount: number
  /** `global.threads` of the scheduler. */
  readonly threads: number
}

/** One scheduler, four workers, real processes, and every fault of `faults.ts` while clients wait for their actions. */
export const chaos = async (t: Test, { actionCount, threads }: ChaosOptions): Promise<void> => {
  const atOnce = actionCount > 500 ? 120 : 60
  const folder = mkdtempSync(join(tmpdir(), 'remexec-chaos-'))
  const network = openNetwork(t)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const fleet = await Fleet.start(t, folder, network, 4, threads)
  t.comment(`cut by ${network.kind}`)
  const client = new PatientClient(fleet.address)
  t.teardown(() => client.close())
  const trace = mkdtempSync(join(folder, 'trace-'))
  const works = Array.from({ length: actionCount }, (_, index) => workOf(index, trace))

  let completed = 0
  const isTime = (share: number) => until(`${share} of the actions`, () => completed >= share * actionCount)
  const befall = async (): Promise<void> => {
    const underWay: Promise<void>[] = []
    for (const [index, fault] of FAULTS.entries()) {
      await isTime((index + 0.5) / (FAULTS.length + 1))
      t.comment(`${completed} done: ${fault.name}`)
      const over = fault.run(fleet)
      if (fault.ofScheduler) await over
      else underWay.push(over)
    }
    await Promise.all(underWay)
  }
  const fromMs = performance.now()
  const run = async ({ built, exitCode, output }: Work): Promise<string | undefined> => {
    await client.upload(built)
    const { result } = await client.run(built)
    completed++
    if (result?.exitCode !== exitCode) return `exit code ${result?.exitCode}, expected ${exitCode}`
    const [file] = result.outputFiles
    const size = Number(file?.digest?.sizeBytes ?? -1)
    return size === output.length ? undefined : `an output of ${size} bytes, expected ${output.length}`
  }
  const [answers] = await Promise.all([boundedMap(works, atOnce, run), befall()])
  t.same(
    answers.flatMap((wrong, index) => (wrong === undefined ? [] : [`${index}: ${wrong}`])),
    [],
    'each ended as it should',
  )
  const runs = works.map((_, index) => readFileSync(`${trace}/${index}`, 'utf8').trim().split('\n').length)
  t.comment(`${fleet.adoptions()} attempts were taken over by a scheduler that had not started them`)
  const took = ((performance.now() - fromMs) / 1000).toFixed(1)
  t.comment(
    `${actionCount} actions in ${took} s, ${runs.reduce((all, one) => all + one, 0)} runs, ${JSON.stringify(client.counts)}`,
  )
  const others = client.failures.filter((failure) => !/the scheduler is shutting down/.test(failure))
  t.same(others, [], 'no operation ended with an error, but those that came when the scheduler was about to end')

  await until('four idle workers with all that they offer', async () => {
    const { workers, queued } = await fleet.overview()
    const isIdle = workers.every(
      ({ running, attempts, left }) => running + attempts.length === 0 && left['cpu'] === PLACES,
    )
    return workers.length === 4 && queued === 0 && isIdle
  })
  await until('no process of an action', () => processesWith(marker).length === 0)
  for (const { folder: own } of fleet.workers) {
    const left = (): string[] => namesBelow(`${own}/w`)
    await until(
      () => `no files of actions are left: ${left().slice(0, 10).join(', ')}`,
      () => left().length === 0,
    )
    const starts = readdirSync(`${own}/w`, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    t.ok(starts.length <= 1, 'a folder for the last start at most')
  }
  await until('descriptors of the scheduler', () => descriptorsOf(fleet.scheduler.child.pid) < 100)
  t.same(await fleet.stop(), [143, 143, 143, 143, 143], 'all stop cleanly')
  for (const { folder: own } of fleet.workers) t.same(readdirSync(`${own}/w`), [], 'and leave no work directory')
  for (const temp of ['server/cas-temp', 'server/ac-temp']) t.same(namesBelow(join(folder, temp)), [], temp)
}
