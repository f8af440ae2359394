/** The house rules that tools can check: each is a command of a well-kept tool that has to end with status 0. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A file of its own for each rule, so that they are checked side by side and have a time limit each. */
export const holds = (rule: string, command: string, ...args: readonly string[]): void => {
  t.test(rule, async (t) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
    t.error(error)
    t.equal(status, 0, `${command} ${args.join(' ')}`)
    if (status !== 0) t.comment(`${stdout}${stderr}`)
  })
}
