import { codec, type Input } from '../../../src/proto/codec.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { isTree, type Tree } from '../../misses/trees.js'
import { withHeaders } from '../../security/server.js'
import type { TestClient } from '../../server/client.js'
import { AC, CAS } from '../../service/harness.js'

const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

/** A client that uploads actions, results and files to an instance over the wire. */
export class Uploader {
  readonly #client: TestClient
  readonly #instanceName: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(client: TestClient, instanceName: string, headers: Readonly<Record<string, string>> = {}) {
    this.#client = client
    this.#instanceName = instanceName
    this.#headers = headers
  }

  async blob(
    data: Buffer | string,
    asked: Input<'build.bazel.remote.execution.v2.RequestMetadata'> = {},
  ): Promise<Digest> {
    const bytes = Buffer.from(data)
    const digest = Digest.of(bytes, digestFunctions.SHA256)
    const requests = [{ digest: digest.toMessage(), data: bytes }]
    const { responses } = await this.#unary(`${CAS}/BatchUpdateBlobs`, { requests }, asked)
    if (responses[0]?.status?.code !== 0 && responses[0]?.status) throw new Error(responses[0].status.message)
    return digest
  }

  async tree(tree: Tree): Promise<Digest> {
    const files = []
    const symlinks = []
    const directories = []
    for (const [name, node] of Object.entries(tree)) {
      if (typeof node === 'string') files.push({ name, digest: (await this.blob(node)).toMessage() })
      else if (isTree(node)) directories.push({ name, digest: (await this.tree(node)).toMessage() })
      else if ('target' in node) symlinks.push({ name, target: String(node['target']) })
      else files.push({ name, digest: (await this.blob(String(node['program']))).toMessage(), isExecutable: true })
    }
    return this.blob(encodeDirectory({ files, symlinks, directories }))
  }

  async action(
    command: Input<'build.bazel.remote.execution.v2.Command'>,
    inputs: Tree = {},
    action: Input<'build.bazel.remote.execution.v2.Action'> = {},
  ): Promise<Digest> {
    const commandDigest = (await this.blob(commandCodec.encode(command))).toMessage()
    const inputRootDigest = action.inputRootDigest ?? (await this.tree(inputs)).toMessage()
    return this.blob(actionCodec.encode({ ...action, commandDigest, inputRootDigest }))
  }

  async write(
    action: Digest,
    actionResult: Input<'build.bazel.remote.execution.v2.ActionResult'>,
    asked: Input<'build.bazel.remote.execution.v2.RequestMetadata'> = {},
  ): Promise<void> {
    await this.#unary(`${AC}/UpdateActionResult`, { actionDigest: action.toMessage(), actionResult }, asked)
  }

  /** Asks for a result; whether there is one. */
  async ask(action: Digest, asked: Input<'build.bazel.remote.execution.v2.RequestMetadata'> = {}): Promise<boolean> {
    try {
      await this.#unary(`${AC}/GetActionResult`, { actionDigest: action.toMessage() }, asked)
      return true
    } catch (error) {
      if (error instanceof Error && /NOT_FOUND/.test(error.message)) return false
      throw error
    }
  }

  #unary(path: `${typeof AC | typeof CAS}/${string}`, request: object, asked: object = {}) {
    const metadata = withHeaders(this.#headers)
    metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', metadataCodec.encode(asked))
    return this.#client.unary(path, { instanceName: this.#instanceName, ...request }, { metadata }).response
  }
}
