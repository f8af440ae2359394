import { mkdirSync } from 'node:fs'
import type { Clock } from '../../base/clock.js'
import { advice, inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import { lockFolder } from '../../files/folder-lock.js'
import type { Log } from '../../log/log.js'
import type { Resources } from '../../work/resources.js'
import { Images, type ImagesOptions } from './images.js'

type ContainerImages = NonNullable<LocalWorkerOptions['container_images']>

/** A worker that was killed may take a moment to end. */
const PREDECESSOR_MS = 5_000
/** Of the folder in the work directory, which only the worker touches. */
const NAME = 'images'

export interface OpenImages {
  /** As configured; undefined if actions run on this machine's own system. */
  readonly wanted: ContainerImages | undefined
  readonly workDirectory: string
  /** Called when `Images.warmKeys` may have changed. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly log: Log
}

/**
 * The images of a worker, or undefined if it has none. FAILED_PRECONDITION if a tool is missing or the folder cannot be used. What has
 * to be closed is added to `held`.
 */
export const openImages = async (
  { wanted, workDirectory, onChange, clock, log }: OpenImages,
  held: Resources,
): Promise<Images | undefined> => {
  if (wanted === undefined) return undefined
  const options = { ...imagesOptions(wanted, workDirectory), onChange, clock, log }
  makeFolder(options.directory)
  const unlock = await lockFolder(options.directory, 'another worker', PREDECESSOR_MS)
  held.add('lock of the container images', unlock)
  const images = Images.open(options)
  held.add('container images', () => images.close())
  return images
}

const makeFolder = (directory: string): void => {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const message = `container_images: the folder ${JSON.stringify(directory)} cannot be made: ${inWords(cause)}${advice(cause)}`
    throw new StatusError('FAILED_PRECONDITION', message, { cause })
  }
}

const imagesOptions = (
  wanted: ContainerImages,
  workDirectory: string,
): Omit<ImagesOptions, 'clock' | 'log' | 'onChange'> => ({
  directory: wanted.directory ?? `${workDirectory}/${NAME}`,
  maxBytes: wanted.max_bytes,
  maxAgeMs: wanted.max_age_s * 1000,
  maxImageBytes: wanted.max_image_bytes,
  maxFiles: wanted.max_image_files,
  timeoutMs: wanted.pull_timeout_s * 1000,
  tagAgeMs: wanted.tag_age_s * 1000,
  registries: wanted.registries,
  allowAddresses: wanted.allow_addresses,
  authFile: wanted.auth_file,
  prefetch: wanted.prefetch,
})
