import { imageKey, namedImage } from '../../../reapi/container-image.js'
import type { ExecutionRequest } from '../../request.js'

/**
 * What an action would find ready at a worker that holds it warm, most valuable first: workers tell the same keys. They are
 * hints, so an action that names none runs anywhere.
 */
export const warmKeysOf = ({ properties }: Pick<ExecutionRequest, 'properties'>): readonly string[] => {
  const image = namedImage(properties)
  return image === undefined ? [] : [imageKey(image.value)]
}
