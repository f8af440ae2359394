import { CATCH_ALL } from '../../../base/catch-all.js'
import type { PlatformProperty } from '../../../reapi/platform.js'
import type { Outcome } from '../../request.js'
import type { MatchKind } from './requirement.js'

/** The property by which an action asks to run in a container of that image. */
const PROPERTY = 'container-image'
/** The value with which an action asks for no container. */
const NO_IMAGE = new Set(['', 'none'])
const MAX_SHOWN = 200

/** Images that were told about. Further ones are not, because a client may ask for any number of them. */
const MAX_TOLD = 100

/**
 * The image that an action asks for although no worker will use it: `container-image` is not listed in
 * supported_platform_properties, and `*` there lets every property pass. Undefined if the configuration names it.
 */
export const ignoredImage = (
  properties: readonly PlatformProperty[],
  declared: ReadonlyMap<string, MatchKind>,
): string | undefined => {
  if (declared.has(PROPERTY) || declared.get(CATCH_ALL) !== 'ignore') return undefined
  const image = properties.find(({ name, value }) => name === PROPERTY && !NO_IMAGE.has(value))?.value
  return image?.slice(0, MAX_SHOWN)
}

/** Tells about each image once. */
export class IgnoredImages {
  readonly #told = new Set<string>()

  /** The line for the log, the first time an action asks for the image. */
  note(image: string): string | undefined {
    if (this.#told.has(image) || this.#told.size >= MAX_TOLD) return undefined
    this.#told.add(image)
    const asked = `actions ask for ${PROPERTY}=${JSON.stringify(image)}, but workers run them on their own system`
    const list = `list ${PROPERTY} in supported_platform_properties`
    return `${asked}: ${list}, as "exact" to reject such actions or send them to workers that offer it, as "ignore" to accept this`
  }
}

/** Adds to the message of a response, which clients show for failed actions, that the image was not used. */
export const withIgnoredImage = (outcome: Outcome, image: string): Outcome => {
  if ('error' in outcome) return outcome
  const told = `${PROPERTY}=${JSON.stringify(image)} was ignored: the command ran on the worker's own system`
  const { response } = outcome
  const message = response.message === '' ? told : `${response.message}\n${told}`
  // A spread would lose the defaults, which a decoded message has on its prototype.
  return { response: Object.assign(Object.create(Object.getPrototypeOf(response)), response, { message }) }
}
