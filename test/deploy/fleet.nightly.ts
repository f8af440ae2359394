/** The three configurations of deploy/chart as three processes: what they are together is judged by the conformance suite. */
import { join } from 'node:path'
import t from 'tap'
import { loader, programAt } from '../built.js'
import { cleanEnv, run } from '../clients/process.js'
import { root, scratchFolder } from '../clients/scratch.js'
import { freePorts, startBackend } from '../store/remote/backend.js'
import { untilSo } from '../until.js'

// For changes in: deploy/chart, src/assembly, src/config, src/scheduler, src/worker, src/service/execution, src/service/worker-api

t.setTimeout(170_000)

t.test('a server, a scheduler and a worker execute what a client asks for', async (t) => {
  const folder = await scratchFolder(t)
  const [server = 0, scheduler = 0, workers = 0, health = 0] = await freePorts(4)
  const start = (part: string, port: number) =>
    startBackend(
      t,
      process.execPath,
      [join(root, 'dist/cli.js'), `deploy/chart/config/${part}.json5`],
      /remexec serving/,
      {
        cwd: root,
        env: {
          ...process.env,
          REMEXEC_DATA: join(folder, part),
          REMEXEC_PORT: `${port}`,
          REMEXEC_SERVER: `127.0.0.1:${server}`,
          REMEXEC_SCHEDULER: `127.0.0.1:${scheduler}`,
          REMEXEC_WORKER_PORT: `${workers}`,
          REMEXEC_WORKER_API: `127.0.0.1:${workers}`,
          REMEXEC_SLOTS: '2',
          REMEXEC_CPUS: '2',
          REMEXEC_MEMORY_KB: '1000000',
        },
      },
    )
  await Promise.all([start('server', server), start('scheduler', scheduler), start('worker', health)])
  const isReady = async (port: number): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/status/ready`)).ok
  for (const port of [server, scheduler, health]) await untilSo(() => isReady(port))
  const status = await (await fetch(`http://127.0.0.1:${server}/status`)).text()
  t.match(status, `executions go to 127.0.0.1:${scheduler}`)
  const suite = [
    ...loader,
    programAt('conformance/main.ts'),
    `grpc://127.0.0.1:${server}`,
    '--only',
    'CMD,ACG',
    '--quiet',
  ]
  const { code, output } = await run(process.execPath, [...suite, '--patience', '4'], root, cleanEnv(folder))
  t.equal(code, 0) || t.comment(output)
  t.match(output, /No findings/)
})
