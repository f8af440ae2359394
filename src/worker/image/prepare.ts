import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { DIRECTORY_IN_IMAGE } from '../command/sandbox.js'

export interface Prepared {
  /** Whether `/var/tmp` is a directory of the image. */
  readonly hasVarTmp: boolean
  /** Whether `/etc/resolv.conf` is a file of the image. */
  readonly hasResolver: boolean
}

/** The directories that every command gets from the worker. */
const MOUNT_POINTS = ['dev', 'proc', 'tmp', DIRECTORY_IN_IMAGE.slice(1)]

/**
 * Makes the places in an unpacked image that the sandbox mounts over, because the image is read-only then. Each is a directory of
 * its own afterwards: a symbolic link in its place would lead the mount elsewhere. No other process may use the image yet.
 */
export const prepareRoot = async (root: string, image: string): Promise<Prepared> => {
  if (!(await isDirectory(root))) {
    throw new StatusError('FAILED_PRECONDITION', `the image ${image} could not be used: it has no root directory`)
  }
  await chmod(root, 0o755)
  for (const name of MOUNT_POINTS) await makeDirectory(`${root}/${name}`)
  const hasVar = await isDirectory(`${root}/var`)
  if (hasVar) await chmod(`${root}/var`, 0o755)
  if (hasVar) await makeDirectory(`${root}/var/tmp`)
  const hasResolver =
    (await isDirectory(`${root}/etc`)) && (await statsOf(`${root}/etc/resolv.conf`))?.isFile() === true
  return { hasVarTmp: hasVar, hasResolver }
}

const makeDirectory = async (path: string): Promise<void> => {
  const stats = await statsOf(path)
  if (stats !== undefined && !stats.isDirectory()) await rm(path)
  if (stats?.isDirectory() !== true) await mkdir(path)
  await chmod(path, 0o755)
}

const isDirectory = async (path: string): Promise<boolean> => (await statsOf(path))?.isDirectory() === true

const statsOf = async (path: string) => {
  try {
    return await lstat(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
