import { StatusError } from '../../base/status-error.js'
import type { ListOperationsRequest, ListOperationsResponseInput } from '../../proto/generated/google.longrunning.js'
import { instanceOfOperations } from '../../reapi/operation-name.js'
import type { RpcCall } from '../../rpc/rpc.js'
import type { ExecutionOptions } from '../execution/instance.js'
import { type OperationMessage, operationMessage, readerOf } from '../execution/operation-message.js'
import { instanceOf } from '../instance.js'

const DEFAULT_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 1_000
/** A page ends early at this size, because clients refuse messages above 4 MiB. */
const MAX_PAGE_BYTES = 3 * 1024 * 1024

/**
 * The operations of one instance, oldest first. `name` is the instance name, with or without `/operations`. A page
 * token is a position in the order of creation, so it stays valid when operations are removed.
 */
export const listOperations =
  ({ instances }: Pick<ExecutionOptions, 'instances'>) =>
  async (
    { name, filter, pageSize, pageToken }: ListOperationsRequest,
    rpc: RpcCall,
  ): Promise<ListOperationsResponseInput> => {
    const instanceName = instanceOfOperations(name)
    const reader = readerOf(rpc, instanceName)
    const { scheduler } = instanceOf(instances, instanceName)
    if (filter !== '') throw new StatusError('INVALID_ARGUMENT', 'filter is not supported here, expected none')
    const limit = limitOf(pageSize)
    const after = positionOf(pageToken)
    const operations: OperationMessage[] = []
    let sizeBytes = 0
    let last: string | undefined
    for await (const { state, cursor } of scheduler.operations(instanceName, after)) {
      const message = operationMessage(state, reader)
      sizeBytes += ENVELOPE_BYTES + (message.response?.value?.length ?? 0)
      if (last !== undefined && (operations.length === limit || sizeBytes > MAX_PAGE_BYTES)) {
        return { operations, nextPageToken: tokenOf(last) }
      }
      operations.push(message)
      last = cursor
    }
    return { operations }
  }

/** Approximate size of name and metadata. */
const ENVELOPE_BYTES = 500

const limitOf = (pageSize: number): number => {
  if (pageSize < 0) throw new StatusError('INVALID_ARGUMENT', `page_size: ${pageSize} is not valid, expected 0 or more`)
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(pageSize, MAX_PAGE_SIZE)
}

const tokenOf = (cursor: string): string => Buffer.from(cursor).toString('base64url')

const positionOf = (token: string): string => {
  if (token === '') return ''
  const text = Buffer.from(token, 'base64url').toString()
  if (/^\d{1,15}(:.*)?$/s.test(text)) return text
  throw new StatusError('INVALID_ARGUMENT', 'page_token is not valid, expected one that an earlier answer gave')
}
