import { holds, unpack } from '../../proto/any.js'
import { codec } from '../../proto/codec.js'
import { toMs } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../reapi/digest-function.js'
import type { AssetRecord } from './asset-record.js'

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const assetCodec = codec('remexec.asset.v1.Asset')

/**
 * Records as builds from before 2026-11-28 wrote them: ActionResults under a digest that every client can compute. Who may
 * write results can write such a record too, so they are only read where all callers have the same rights and may push.
 */
export const keyOfOlderRecord = (name: readonly string[]): Digest =>
  Digest.of(Buffer.from(JSON.stringify(['remote asset', ...name])), digestFunctions.SHA256).asKey()

const ASSET = 'asset'

/** Undefined for a result that is no record. */
export const decodeOlderRecord = (bytes: Buffer, digestFunction: DigestFunction): AssetRecord | undefined => {
  const { executionMetadata, outputFiles, outputDirectories } = resultCodec.decode(bytes)
  const packed = executionMetadata?.auxiliaryMetadata.find((any) => holds(any, assetCodec))
  if (packed === undefined) return undefined
  const { uri, qualifiers, validAt, expiresAt, etag } = unpack(assetCodec, packed)
  const file = outputFiles.find(({ path }) => path === ASSET)
  const directory = outputDirectories.find(({ path }) => path === ASSET)
  const others = <T extends { readonly path: string }>(outputs: readonly T[]) =>
    outputs.filter(({ path }) => path !== ASSET)
  return {
    kind: file === undefined ? 'directory' : 'blob',
    digest: Digest.parse(
      file?.digest ?? directory?.rootDirectoryDigest,
      digestFunction,
      'the digest of a stored asset',
    ),
    ...{ uri, qualifiers, etag },
    validAtMs: validAt === null ? 0 : toMs(validAt),
    expiresAtMs: expiresAt === null ? undefined : toMs(expiresAt),
    blobs: others(outputFiles).map(({ digest }) => Digest.parse(digest, digestFunction)),
    directories: others(outputDirectories).map(({ rootDirectoryDigest }) =>
      Digest.parse(rootDirectoryDigest, digestFunction),
    ),
  }
}
