import { entryFor } from '../../base/catch-all.js'
import type { ServerConfig } from '../config.js'
import type { LintContext } from './context.js'

/** Path of the status page. */
const PEOPLE = '/'

/** Checks that the HTTP paths of a server are distinct. */
export const lintPages = ({ services }: ServerConfig, { findings, originOf, config }: LintContext): void => {
  lintHttpCaches({ services }, { findings, originOf, config })
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

type Served = Pick<ServerConfig, 'services'>

/** Each HTTP cache needs the blobs and results of its instance here, and a path that no other service has. */
const lintHttpCaches = (
  { services }: Served,
  { findings, originOf, config }: Pick<LintContext, 'findings' | 'originOf' | 'config'>,
): void => {
  const { http_cache, cas, ac, health, admin, metrics, pages: forPeople } = services
  const pages = [health?.path, admin?.path, metrics?.path]
  for (const options of http_cache.values()) {
    const { path, instance_name, overlay_instance_name: overlay } = options
    const at = originOf(options)
    // The addresses of Bazel's cache end in ac or cas and a hash, which no page has.
    const isTaken = pages.includes(path) || (options.kind !== 'bazel' && path === forPeople?.path)
    if (isTaken) {
      const expected = 'a path of its own; only pages and a cache of kind "bazel" share one'
      findings.error(at, `${path} is a path of another service`, { found: JSON.stringify(path), expected })
    }
    if (path !== '/' && /\/$|\/\/|\/\.\.?(\/|$)/.test(path)) {
      const expected = 'a path without empty and dot segments and without a slash at the end'
      findings.error(at, 'the path is not in its shortest form', { found: JSON.stringify(path), expected })
    }
    if (entryFor(cas, instance_name) === undefined || entryFor(ac, instance_name) === undefined)
      findings.error(at, `instance ${JSON.stringify(instance_name)} has no cas or no ac in this server`, {
        expected: 'an entry for the instance in services.cas, and in services.ac',
      })
    if (overlay === undefined) continue
    if (config.security === undefined)
      findings.error([...at, 'overlay_instance_name'], 'without security every caller may write everywhere', {
        expected: 'security, with a rule for callers that may write to the overlay only',
      })
    if (overlay === instance_name)
      findings.error([...at, 'overlay_instance_name'], 'the overlay is the instance itself', {
        found: JSON.stringify(overlay),
        expected: 'another instance',
      })
  }
}

const pathsOf = (path: string, below: readonly string[]): readonly string[] => [
  path,
  ...below.map((name) => `${path.replace(/\/$/, '')}/${name}`),
]
