import type { Context } from '../state/context.js'
import type { Requirement } from '../state/requirement.js'
import type { Worker } from '../state/state.js'

/** Workers that were here before the scheduler was started, or that restart, have this time to connect. */
export const IMAGE_WAIT_MS = 10_000
/** A fleet that had workers with images so recently has lost them, or has scaled them down: actions wait for them as for others. */
const REMEMBERED_MS = 60 * 60_000

/**
 * Whether an action names an image and this fleet runs no actions in images: there are workers, and none says that it does, nor
 * did one lately.
 */
export const lacksImages = (
  { needsImages }: Requirement,
  workers: Iterable<Worker>,
  { nowMs, imagesSeenMs }: Pick<Context, 'nowMs' | 'imagesSeenMs'>,
): boolean => {
  if (!needsImages || nowMs - imagesSeenMs < REMEMBERED_MS) return false
  const known = [...workers]
  return known.length > 0 && !known.some(({ offer }) => offer.runsImages === true)
}

/** What operators and authors of builds can do about it. */
export const WITHOUT_IMAGES =
  "it names an image by container-image or docker-image, and no worker here runs actions in images: give a worker container_images, or have such actions run on the worker's own system with supported_platform_properties: {'container-image': 'ignore', 'docker-image': 'ignore'} of the scheduler"
