import { randomBytes } from 'node:crypto'
import { type Digest, digestOf } from '../exam/exam.js'
import { codec, type Output } from '../proto/codec.js'
import * as methods from '../wire/methods.js'
import { type Call, type Ending, onRequest, onResponse, type Tampering } from './mutation.js'

// What mutations of executions share: the messages packed inside an Operation, and the blobs an action consists of.

const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')
const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')
const statusCodec = codec('google.rpc.Status')

type Re<N extends string> = Output<`build.bazel.remote.execution.v2.${N}` & Parameters<typeof codec>[0]>
export type ActionResult = Re<'ActionResult'>
export type Status = Output<'google.rpc.Status'>

/** An Operation and its decoded contents. */
export interface Opened {
  readonly operation: Output<'google.longrunning.Operation'>
  readonly metadata: Re<'ExecuteOperationMetadata'> | undefined
  readonly response: Re<'ExecuteResponse'> | undefined
}

/** Changes every Operation that Execute and WaitExecution send. */
export const onOperation = (edit: (opened: Opened, call: Call<object>) => void | Promise<void>): Tampering[] =>
  [methods.execute, methods.waitExecution].map((method) =>
    onResponse<object, Opened['operation']>(method, async (operation, call) => {
      const metadata = operation.metadata === null ? undefined : metadataCodec.decode(operation.metadata.value)
      const response = operation.response === null ? undefined : responseCodec.decode(operation.response.value)
      await edit({ operation, metadata, response }, call)
      if (operation.metadata && metadata) operation.metadata.value = metadataCodec.encode(metadata)
      if (operation.response && response) operation.response.value = responseCodec.encode(response)
    }),
  )

/** Changes every result of an execution. */
export const onResult = (
  edit: (result: ActionResult, opened: Opened, call: Call<object>) => void | Promise<void>,
): Tampering[] =>
  onOperation(async (opened, call) => {
    if (opened.response?.result) await edit(opened.response.result, opened, call)
  })

/** Changes every failure of an execution, in the response or in the call; a code of 0 removes it. */
export const onFailure = (edit: (status: Status) => void): Tampering[] => [
  ...onOperation(({ response }) => {
    if (response?.status && response.status.code !== 0) edit(response.status)
  }),
  {
    method: methods.execute,
    ending: (ending) => {
      if (ending.code !== 0) throughStatus(ending, edit)
    },
  },
]

const throughStatus = (ending: Ending, edit: (status: Status) => void): void => {
  const { code, message } = ending
  const bytes = ending.details ?? statusCodec.encode({ code, message })
  const status = statusCodec.decode(bytes)
  edit(status)
  ending.code = status.code
  ending.message = status.message
  if (ending.details !== undefined) ending.details = statusCodec.encode(status)
}

/** The digest of a blob that no server has. */
export const absentDigest = () => ({ ...digestOf(randomBytes(16)) })

/** A blob of the empty instance. */
export const blobOf = async (call: Call<object>, digest: Digest): Promise<Buffer> => {
  const chunks = await call.ask(methods.read, { resourceName: `blobs/${digest.hash}/${digest.sizeBytes}` })
  return Buffer.concat(chunks.map(({ data }) => data))
}

export const storeBlob = async (call: Call<object>, data: Buffer): Promise<Digest> => {
  await call.ask(methods.batchUpdateBlobs, { requests: [{ digest: digestOf(data), data }] })
  return digestOf(data)
}

export interface Parts {
  readonly action: Re<'Action'>
  readonly command: Re<'Command'>
  readonly root: Re<'Directory'>
}

/** The action of this digest with its Command and root; undefined if one of them is missing or malformed. */
export const partsOf = async (call: Call<object>, digest: Digest): Promise<Parts | undefined> => {
  try {
    const action = actionCodec.decode(await blobOf(call, digest))
    if (action.commandDigest === null || action.inputRootDigest === null) return undefined
    const command = commandCodec.decode(await blobOf(call, action.commandDigest))
    return { action, command, root: directoryCodec.decode(await blobOf(call, action.inputRootDigest)) }
  } catch {
    // The server reports the error itself.
    return undefined
  }
}

/** Makes the server run another action than the client requested. */
export const onAction = (edit: (parts: Parts) => void): Tampering =>
  onRequest(methods.execute, async (request, call) => {
    const { hash = '', sizeBytes = 0 } = request.actionDigest ?? {}
    const parts = await partsOf(call, { hash, sizeBytes })
    if (parts === undefined) return
    edit(parts)
    parts.action.commandDigest = { ...(await storeBlob(call, commandCodec.encode(parts.command))) }
    parts.action.inputRootDigest = { ...(await storeBlob(call, directoryCodec.encode(parts.root))) }
    request.actionDigest = await storeBlob(call, actionCodec.encode(parts.action))
  })

/** Changes the Tree of every output directory; if `edit` returns bytes, they are stored instead. */
export const onTree = (
  edit: (tree: Re<'Tree'>, directory: ActionResult['outputDirectories'][number]) => Buffer | undefined,
): Tampering[] =>
  onResult(async (result, _, call) => {
    for (const directory of result.outputDirectories) {
      if (directory.treeDigest === null) continue
      const tree = treeCodec.decode(await blobOf(call, directory.treeDigest))
      const bytes = edit(tree, directory) ?? treeCodec.encode(tree)
      directory.treeDigest = { ...(await storeBlob(call, bytes)) }
    }
  })
