import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import type { ReportDocument } from '../../conformance/report/document.js'
import { scratchFolder } from '../clients/scratch.js'
import { conformance } from './program.js'
import { secured } from './secured.js'
import { everything, startServer } from './server.js'

// For changes in: src/assembly, src/server/threads, src/store/index, src/store/kinds/filesystem

t.setTimeout(1_100_000)

const INSTANCES = [
  ...['--second-instance-name', 'second', '--read-only-instance', 'frozen'],
  ...['--cache-only-instance', 'projects/p/instances/i', '--property', 'OSFamily=Linux'],
]

/** The configuration of the suite with so many threads. If they serve, it has files only and no lists of chunks. */
const configOf = (folder: string, threads: number, areServing: boolean): string => {
  const config = JSON5.parse(readFileSync(everything, 'utf8'))
  config.global = { threads }
  if (areServing) {
    const files = (name: string) => ({
      filesystem: { content_path: `\${REMEXEC_DATA}/${name}/content`, temp_path: `\${REMEXEC_DATA}/${name}/temp` },
    })
    config.stores = config.stores.map((store: { name: string }) =>
      store.name === 'CAS' ? store : { name: store.name, ...files(store.name) },
    )
    for (const service of config.servers[0].services.cas) delete service.experimental_chunking
  }
  const path = join(folder, 'threads.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}

const rowsOf = async (address: string, args: readonly string[]): Promise<Map<string, string>> => {
  const always = [...INSTANCES, '--format', 'json', '--quiet', '--patience', '3']
  const { stdout, stderr } = await conformance(address, ...args, ...always)
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const { results } = JSON.parse(stdout) as ReportDocument
  return new Map(results.map(({ id, verdict, reason }) => [id, `${verdict} ${reason}`.trim()]))
}

for (const { name, areServing, isSecured } of [
  { name: 'whose threads serve blobs and results', areServing: true, isSecured: false },
  {
    name: 'whose threads serve blobs and results to callers with a token, over mutual TLS',
    areServing: true,
    isSecured: true,
  },
  { name: 'whose threads carry every call to the owner', areServing: false, isSecured: false },
])
  t.test(`the suite and every recorded session against a server ${name}`, async (t) => {
    const folder = await scratchFolder(t)
    const plain = configOf(folder, 4, areServing)
    const security = isSecured ? secured(plain, folder) : undefined
    const address = (await startServer(t, 'remexec', security?.config ?? plain)).replace('127.0.0.1', 'localhost')
    const found = await rowsOf(address, security?.args ?? [])
    t.ok(found.size > 300, `${found.size} rows`)
    t.ok([...found.keys()].filter((id) => id.startsWith('SES-')).length >= 10, 'sessions are among the rows')
    t.same(
      [...found].filter(([, outcome]) => /^(fail|crash|broken|surprise)/.test(outcome)),
      [],
    )
  })
