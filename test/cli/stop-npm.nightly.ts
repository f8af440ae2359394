// For changes in: src/process, src/command, package.json
import { readFileSync, symlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { root, start } from './program.js'

// Servers that were started with `npm start`, which npm or the terminal stops.

t.setTimeout(60_000)

/** A prepared checkout: `npm start` there does the same as here, except for the build. */
const preparedCheckout = (t: Test): string => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: { start: string } }
  const folder = t.testdir({
    'package.json': JSON.stringify({ scripts: { start: scripts.start } }),
    scripts: { 'prepare.mjs': '' },
    data: {},
  })
  for (const name of ['dist', 'fixtures']) symlinkSync(`${root}${name}`, `${folder}/${name}`)
  return folder
}

for (const [what, signal, isWholeGroup] of [
  ['npm start killed by a service manager', 'SIGTERM', false],
  ['npm start interrupted at the keyboard', 'SIGINT', true],
  ['npm start whose terminal is closed', 'SIGHUP', true],
] as const) {
  t.test(`${what} leaves no server behind, and the server stops cleanly`, async (t) => {
    const folder = preparedCheckout(t)
    const npm = start(t, ['npm', 'start', '--no-update-notifier'], {
      cwd: folder,
      detached: true,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        REMEXEC_DATA: `${folder}/data`,
        REMEXEC_PORT: '0',
        REMEXEC_WORKER_PORT: '0',
      },
    })
    const { pid = 0 } = npm.child
    t.teardown(() => {
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // All processes of the group have ended, as expected.
      }
    })
    await npm.hears(/serving grpc:\/\/\S+ server=public/)
    process.kill(isWholeGroup ? -pid : pid, signal)
    await npm.ended
    t.match(npm.said(), /stopping/)
    t.ok(readFileSync(`${folder}/data/cas/content/index`).length > 0, 'the index is saved')
  })
}
