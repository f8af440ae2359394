import type { ExecutionRequest } from './request.js'

/** What an unfinished operation takes beside what its request holds: names, digests, its place in the queue, who waits for it. */
export const OPERATION_BYTES = 1536
/** What a property takes beside its texts. */
const PROPERTY_BYTES = 64
/** What a key takes beside its text. */
const KEY_BYTES = 64

/** What an unfinished operation takes of memory, roughly: clients choose how much their actions ask for. */
export const operationBytes = ({ properties, actionBytes, metadata, rootKeys, ...texts }: ExecutionRequest): number => {
  let sizeBytes = OPERATION_BYTES + (actionBytes?.length ?? 0) + (metadata?.length ?? 0)
  for (const { name, value } of properties) sizeBytes += PROPERTY_BYTES + textBytes(name) + textBytes(value)
  for (const key of rootKeys ?? []) sizeBytes += KEY_BYTES + textBytes(key)
  const { workingDirectory, invocation, target, mnemonic, scope, identity } = texts
  for (const text of [workingDirectory, invocation, target, mnemonic, scope, identity]) sizeBytes += textBytes(text)
  return sizeBytes
}

/** V8 keeps two bytes a character for what is not Latin-1. */
const textBytes = (text: string | undefined): number => 2 * (text?.length ?? 0)
