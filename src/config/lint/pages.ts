import type { ServerConfig } from '../config.js'
import type { LintContext } from './context.js'

/** Path of the status page. */
const PEOPLE = '/'

/** Checks that the HTTP paths of a server are distinct. */
export const lintPages = ({ services }: ServerConfig, { findings, originOf }: LintContext): void => {
  const { health, admin } = services
  const probes = health === undefined ? [] : pathsOf(health.path, ['ready', 'live'])
  const orders = admin === undefined ? [] : pathsOf(admin.path, ['drain', 'operation'])
  const [both] = orders.filter((path) => probes.includes(path))
  if (health !== undefined && admin !== undefined && both !== undefined) {
    findings.error([...originOf(health), 'path'], `${both} is a path of both health and admin`, {
      found: JSON.stringify(health.path),
      expected: `a path that clashes with none of ${orders.join(', ')}`,
    })
  }
  if (health === undefined || !(probes.includes(PEOPLE) || orders.includes(PEOPLE))) return
  const taker = probes.includes(PEOPLE) ? health : admin
  findings.warning(
    [...originOf(taker ?? health), 'path'],
    'the status page at / is not served, because this path is taken',
    {
      expected: 'another path',
    },
  )
}

const pathsOf = (path: string, below: readonly string[]): readonly string[] => [
  path,
  ...below.map((name) => `${path.replace(/\/$/, '')}/${name}`),
]
