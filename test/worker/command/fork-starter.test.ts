import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { forkStarter } from '../../../src/worker/command/fork-starter.js'

// The fallback of launchers. run-command.test.ts covers the contract for commands, with the starter that is available.

const run = (t: Test, argv: readonly string[], hasStatus = false): Promise<readonly unknown[]> => {
  const cwd = t.testdir()
  const stdoutPath = join(cwd, 'stdout')
  const stdout = openSync(stdoutPath, 'wx')
  const events: unknown[] = []
  return new Promise((resolve) => {
    const program = {
      argv,
      cwd,
      environment: [['A', 'b']] as const,
      stdout,
      stderr: stdout,
      ...(hasStatus && { status: stdout }),
    }
    forkStarter(program, {
      onStart: (pid) => events.push(typeof pid),
      onExit: (exitCode) => resolve([...events, exitCode, readFileSync(stdoutPath, 'utf8')]),
      onFailure: (errno) => resolve([...events, errno]),
    })
    closeSync(stdout)
  })
}

t.test('a program starts and ends with its exit code, or 128 plus its signal', async (t) => {
  t.same(await run(t, ['/bin/sh', '-c', 'echo $A; exit 3']), ['number', 3, 'b\n'])
  t.same(await run(t, ['/bin/sh', '-c', 'kill -TERM $$']), ['number', 143, ''])
})

t.test('a program leads its own session', async (t) => {
  const [, , text] = await run(t, ['/bin/cat', '/proc/self/stat'])
  const [pid, , , , group, session] = String(text).split(' ')
  t.same([group, session], [pid, pid])
})

t.test('the status descriptor is its descriptor 3', async (t) => {
  t.same(await run(t, ['/bin/sh', '-c', 'echo told >&3'], true), ['number', 0, 'told\n'])
  t.match(await run(t, ['/bin/sh', '-c', 'echo told >&3']), ['number', 2])
})

t.test('a failed start', async (t) => {
  t.same(await run(t, ['/nosuch']), ['ENOENT'])
  t.same(await run(t, ['/bin/echo', 'a\0b']), ['ERR_INVALID_ARG_VALUE'])
})
