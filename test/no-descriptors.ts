import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

export const withoutPrlimit = spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not here'

/** From now on this process can open no file and start no process, until the returned function is called. */
export const noDescriptors = async (): Promise<() => Promise<void>> => {
  const prlimit = ['prlimit', `--pid=${process.pid}`]
  const [name = '', of = ''] = prlimit
  const before = execFileSync(name, [of, '--nofile', '--output=SOFT', '--noheadings'], { encoding: 'utf8' }).trim()
  const by = (limit: string): string => [...prlimit, `--nofile=${limit}:`].join(' ')
  // By another process, because this one could not start it later.
  const helper = spawn('sh', ['-c', `${by('3')}; echo done; read line; ${by(before)}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(helper.stdout, 'data')
  return async () => {
    const ended = once(helper, 'exit')
    helper.stdin.end('\n')
    await ended
  }
}
