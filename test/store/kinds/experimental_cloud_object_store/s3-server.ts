/** An S3 server for tests: versitygw, which keeps objects in a temporary folder. */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../../remote/backend.js'

const program = process.env['REMEXEC_TEST_VERSITYGW']

/** Why tests that need S3 cannot run here; false where they can. */
export const withoutS3 =
  program === undefined ? 'needs an S3 server, versitygw: .ci/bring builds it, REMEXEC_TEST_VERSITYGW names it' : false

export const S3_KEYS = { accessKeyId: 'remexec', secretAccessKey: 'remexec-secret' }

export interface S3Server extends Backend {
  readonly port: number
  readonly bucket: string
  /** Uploads in parts that are neither complete nor discarded. */
  openUploads(): Promise<readonly string[]>
  /** Paths of all objects, whatever prefix they are under. */
  objects(): Promise<readonly string[]>
  /** Another process at the same port, with the same objects. */
  restart(): Promise<S3Server>
}

/** It accepts only requests signed for `region`, and keeps objects on `disk`, if given. */
export const startS3 = async (t: Scope, region = 'us-east-1', disk?: string): Promise<S3Server> => {
  const [port = 0] = await freePorts(1)
  return startIn(t, { cwd: disk ?? (await folderOf(t)), port, region })
}

interface Place {
  readonly cwd: string
  readonly port: number
  readonly region: string
}

const startIn = async (t: Scope, place: Place): Promise<S3Server> => {
  const { cwd, port, region } = place
  const bucket = 'builds'
  await mkdir(join(cwd, 'root', bucket), { recursive: true })
  const at = ['--port', `127.0.0.1:${port}`, '--region', region, '--keep-alive']
  const args = [...at, 'posix', '--sidecar', cwd, join(cwd, 'root')]
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  }
  const backend = await startBackend(t, program ?? '', args, /service listening on/, { cwd, env })
  const folder = join(cwd, 'root', bucket)
  const openUploads = async (): Promise<readonly string[]> => {
    const names = await readdir(folder, { recursive: true })
    return names.filter((name) => /sgwtmp\/multipart\/[^/]+\/[^/]+$/.test(name))
  }
  const objects = async (): Promise<readonly string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.flatMap((entry) => (entry.isFile() && !entry.parentPath.includes('sgwtmp') ? [entry.name] : []))
  }
  return { ...backend, port, bucket, openUploads, objects, restart: () => startIn(t, place) }
}
