import { imageKey, namedImage } from '../../../reapi/container-image.js'
import { warmKeyOf } from '../../../reapi/persistent-worker.js'
import type { ExecutionRequest } from '../../request.js'

/**
 * How much each kind of key is worth to an action, by its prefix. Each outweighs all lesser ones together, so the sum of what a
 * worker holds (`warmthOf`) says which of two workers is warmer.
 */
const WORTHS = { tool: 16, image: 8, root: 4, command: 2, kind: 1 } as const

/**
 * An action waits for these only: a process or an image takes long to get, and so does the first input root of a kind. A root of
 * that kind is changed into the wanted one faster than any wait.
 */
const WAITED_FOR = WORTHS.tool | WORTHS.image | WORTHS.kind

/** What an action would find ready at a worker that holds it warm. */
export interface WarmKey {
  readonly key: string
  readonly worth: number
}

/** The part of a sum of worths that is worth a wait. */
export const worthAWait = (warmth: number): number => warmth & WAITED_FOR

/**
 * What an action would find ready at a worker that holds it warm, most valuable first: workers tell the same keys. They are
 * hints, so an action that names none runs anywhere.
 */
export const warmKeysOf = (
  request: Pick<ExecutionRequest, 'instanceName' | 'scope' | 'properties' | 'rootKeys'>,
): readonly WarmKey[] => {
  const tool = warmKeyOf(request)
  const image = namedImage(request.properties)
  const keys = [tool, image && imageKey(image.value), ...(request.rootKeys ?? [])]
  return keys
    .flatMap((key) => (key === undefined ? [] : [{ key, worth: worthOf(key) }]))
    .filter(({ worth }) => worth > 0)
}

/** 0 for a key of a kind that this release does not know. */
const worthOf = (key: string): number => WORTHS[key.slice(0, key.indexOf(':')) as keyof typeof WORTHS] ?? 0
