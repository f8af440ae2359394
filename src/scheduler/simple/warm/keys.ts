import { imageKey, namedImage } from '../../../reapi/container-image.js'
import { warmKeyOf } from '../../../reapi/persistent-worker.js'
import type { ExecutionRequest } from '../../request.js'

/**
 * What an action would find ready at a worker that holds it warm, most valuable first: workers tell the same keys. They are
 * hints, so an action that names none runs anywhere.
 */
export const warmKeysOf = (
  request: Pick<ExecutionRequest, 'instanceName' | 'scope' | 'properties'>,
): readonly string[] => {
  const tool = warmKeyOf(request)
  const image = namedImage(request.properties)
  return [...(tool === undefined ? [] : [tool]), ...(image === undefined ? [] : [imageKey(image.value)])]
}
