import { StatusError } from '../../base/status-error.js'
import { missingOf } from '../../blobs/store.js'
import type { QueryWriteStatusRequest, QueryWriteStatusResponseInput } from '../../proto/generated/google.bytestream.js'
import type { ServedCall } from '../../rpc/rpc.js'
import { inInstance } from '../instance.js'
import { checkNameHeader } from './name-header.js'
import type { ByteStreamOptions } from './options.js'
import { writeTarget } from './write-target.js'

/** The progress of an upload: complete if the blob is in the CAS, else the offset at which a Write may resume. */
export const queryWriteStatus =
  ({ instances, uploads }: ByteStreamOptions) =>
  async ({ resourceName }: QueryWriteStatusRequest, call: ServedCall): Promise<QueryWriteStatusResponseInput> => {
    checkNameHeader(call, resourceName)
    const target = writeTarget(instances, resourceName)
    const missing = await missingOf(target.cas, [target.digest], inInstance(call, target.instanceName))
    if (missing.length === 0) return { committedSize: target.digest.sizeBytes, complete: true }
    const upload = await uploads.find(target)
    if (upload !== undefined) return { committedSize: upload.receivedBytes, complete: false }
    throw new StatusError(
      'NOT_FOUND',
      `no upload of blob ${target.digest.key} under this resource_name is known: begin at offset 0`,
    )
  }
