import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Document } from '../../src/config/read/document.js'
import type { RateCase } from '../case.js'
import { KIB } from '../content.js'
import { threaded } from '../server/config.js'
import { root } from '../server/process.js'
import { actionResult, findMissing, reading, type Work, writing } from './cache-work.js'

/** Configurations as people start with them, by the names of their cases. */
const SHIPPED = [
  ['the README', 'fixtures/configs/readme.json5'],
  ['the default', 'deploy/recipes/machine/remexec.json5'],
  ['recipe team', 'deploy/recipes/team/remexec.json5'],
  ['recipe from-nativelink', 'deploy/recipes/from-nativelink/remexec.json5'],
] as const

interface Shipped {
  readonly stores: readonly object[]
  readonly servers: readonly { readonly services: Readonly<Record<string, unknown>> }[]
}

/** As it stands, but for its folder, its address, the instances that it serves, and execution. */
const cacheOf =
  (path: string) =>
  (dataPath: string): object => {
    const text = readFileSync(join(root, path), 'utf8')
      .replaceAll('~/.cache/remexec', dataPath)
      .replace(/\$\{REMEXEC_DATA:-[^}]*\}/g, dataPath)
      .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
      .replace(/(["']?instance_name["']?:\s*)["']\w+["']/g, "$1'*'")
    const { stores, servers } = new Document(text).root as unknown as Shipped
    const [first] = servers
    const { execution: _, ...services } = first?.services ?? {}
    return { stores, servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services }] }
  }

const works = (): readonly Work[] => {
  const size = { name: '1 KiB', bytes: KIB }
  return [findMissing({}), actionResult({}), reading(size, {}), writing(size, {})]
}

/** `threads` is never worse than one thread, whatever a configuration has. */
export const shippedCases = (): readonly RateCase[] =>
  SHIPPED.flatMap(([of, path]) => {
    const cache = Object.defineProperty(cacheOf(path), 'name', { value: of })
    return works().map(
      ({ name, unit, requests, setUp, run }): RateCase => ({
        kind: 'rate',
        name: `${name} of ${of}, 2 service threads`,
        unit,
        unitsPerRequest: 1,
        requests,
        configure: threaded(2, cache),
        setUp,
        run,
        limits: [{ name: 'one thread', usesBare: true, configure: threaded(1, cache), run }],
      }),
    )
  })
