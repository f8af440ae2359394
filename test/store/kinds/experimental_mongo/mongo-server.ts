/** A server that speaks MongoDB's protocol for tests: FerretDB, over SQLite. */
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../../remote/backend.js'

const program = process.env['REMEXEC_TEST_FERRETDB']

/** Why tests that need it cannot run here; false where they can. */
export const withoutMongo =
  program === undefined ? 'needs FerretDB: .ci/bring builds it, REMEXEC_TEST_FERRETDB names it' : false

export interface MongoServer extends Backend {
  readonly port: number
  /** Another process at the same port, with the same blobs. */
  restart(): Promise<MongoServer>
}

/** It keeps its files on `disk`, if given. */
export const startMongo = async (t: Scope, disk?: string): Promise<MongoServer> => {
  const [port = 0] = await freePorts(1)
  return startIn(t, disk ?? (await folderOf(t)), port)
}

/** A server with authentication: at first user `root` with password `secret`, in the database `builds`. */
export const startGuardedMongo = async (t: Scope): Promise<MongoServer> => {
  const [port = 0] = await freePorts(1)
  const root = ['--setup-username=root', '--setup-password=secret', '--setup-database=builds']
  return startIn(t, await folderOf(t), port, ['--test-enable-new-auth', ...root])
}

const startIn = async (t: Scope, cwd: string, port: number, own: readonly string[] = []): Promise<MongoServer> => {
  const args = [
    '--handler=sqlite',
    `--sqlite-url=file:${cwd}/`,
    `--listen-addr=127.0.0.1:${port}`,
    '--debug-addr=-',
    '--telemetry=disable',
    `--state-dir=${cwd}`,
    ...own,
  ]
  const backend = await startBackend(t, program ?? '', args, /Listening on TCP/, { cwd })
  return { ...backend, port, restart: () => startIn(t, cwd, port, own) }
}
