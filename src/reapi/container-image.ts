import type { PlatformProperty } from './platform.js'

/** The properties by which an action names the image that it is to run in; the first that an action has counts. */
export const IMAGE_PROPERTIES = ['container-image', 'docker-image'] as const

/** The values with which an action asks for no image. */
const NO_IMAGE = new Set(['', 'none'])

const BY_DIGEST = /@(sha256:[0-9a-f]{64})$/

/**
 * What stands for an image, as an action names it, between schedulers and workers that hold it: its digest, or the text if a tag
 * names it.
 */
export const imageKey = (value: string): string => `image:${BY_DIGEST.exec(value)?.[1] ?? value}`

export const isNoImage = (value: string): boolean => NO_IMAGE.has(value)

/** The image that an action names; undefined if it names none. */
export const namedImage = (properties: readonly PlatformProperty[]): PlatformProperty | undefined => {
  for (const name of IMAGE_PROPERTIES) {
    const found = properties.find((property) => property.name === name && !isNoImage(property.value))
    if (found !== undefined) return found
  }
  return undefined
}
