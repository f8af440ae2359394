/** An S3 server for tests: versitygw, which keeps objects in a temporary folder. */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../remote/backend.js'

const program = process.env['REMEXEC_TEST_VERSITYGW']

/** Why tests that need S3 cannot run here; false where they can. */
export const withoutS3 =
  program === undefined ? 'needs an S3 server, versitygw: .ci/stores builds it, REMEXEC_TEST_VERSITYGW names it' : false

export const S3_KEYS = { accessKeyId: 'remexec', secretAccessKey: 'remexec-secret' }

export interface S3Server extends Backend {
  readonly port: number
  readonly bucket: string
  /** Uploads in parts that are neither complete nor given up. */
  openUploads(): Promise<readonly string[]>
}

export const startS3 = async (t: Scope): Promise<S3Server> => {
  const cwd = await folderOf(t)
  const [port = 0] = await freePorts(1)
  const bucket = 'builds'
  await mkdir(join(cwd, 'root', bucket), { recursive: true })
  const args = ['--port', `127.0.0.1:${port}`, '--keep-alive', 'posix', '--sidecar', cwd, join(cwd, 'root')]
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  }
  const backend = await startBackend(t, program ?? '', args, /service listening on/, { cwd, env })
  const openUploads = async (): Promise<readonly string[]> => {
    const names = await readdir(join(cwd, 'root', bucket), { recursive: true })
    return names.filter((name) => /sgwtmp\/multipart\/[^/]+\/[^/]+$/.test(name))
  }
  return { ...backend, port, bucket, openUploads }
}
