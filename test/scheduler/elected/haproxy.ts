import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { start } from '../../cli/program.js'
import { folderOf, freePorts } from '../../store/remote/backend.js'

const program = process.env['REMEXEC_TEST_HAPROXY'] ?? 'haproxy'

/** Why tests that need HAProxy cannot run here; false where they can. */
export const withoutHaproxy: string | false =
  spawnSync(program, ['-v']).status === 0
    ? false
    : `needs ${program}: apt-get install haproxy, or name one in REMEXEC_TEST_HAPROXY`

/** One address before servers at these ports, of those whose health is fine. A server that is not loses its connections. */
export const startHaproxy = async (t: Test, ports: readonly number[]): Promise<number> => {
  const folder = await folderOf(t)
  const [port = 0] = await freePorts(1)
  const servers = ports.map((at) => `  server at${at} 127.0.0.1:${at} check`)
  const lines = [
    'global',
    '  log stderr format raw local0',
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  timeout check 1s',
    'frontend all',
    `  bind 127.0.0.1:${port}`,
    '  default_backend servers',
    'backend servers',
    '  balance roundrobin',
    '  option redispatch',
    '  option httpchk GET /status/ready',
    '  default-server inter 500 fall 3 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  writeFileSync(`${folder}/haproxy.cfg`, `${lines.join('\n')}\n`)
  start(t, [program, '-db', '-f', `${folder}/haproxy.cfg`], { cwd: folder })
  return port
}
