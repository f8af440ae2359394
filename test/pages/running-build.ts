/** A build whose events come in while its actions run. */
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import { LAST } from '../builds/harness.js'
import { withHeaders } from '../security/server.js'
import { EXECUTION, Reader } from '../service/execution-harness.js'
import { Uploader } from './actions/fixture.js'
import type { PagesServer } from './harness.js'

const BES = 'google.devtools.build.v1.PublishBuildEvent'
const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

interface Step {
  readonly name: string
  readonly target?: string
  readonly mnemonic?: string
  readonly output?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly instance?: string
}

export class RunningBuild {
  readonly server: PagesServer
  readonly id: string
  readonly #stream
  readonly #instance: string
  #number = 0

  constructor(server: PagesServer, id: string, instance = 'main', headers: Readonly<Record<string, string>> = {}) {
    this.server = server
    this.id = id
    this.#instance = instance
    this.#stream = server.client.bidi(`${BES}/PublishBuildToolEventStream`, { metadata: withHeaders(headers) })
    this.#stream.on('error', () => {})
  }

  async publish(event: Buffer): Promise<void> {
    this.#number += 1
    const acknowledged = new Promise((resolve) => this.#stream.once('data', resolve))
    const streamId = { buildId: 'b', invocationId: this.id, component: 3 }
    this.#stream.write({
      projectId: this.#instance,
      orderedBuildEvent: {
        streamId,
        sequenceNumber: this.#number,
        event: codec('google.devtools.build.v1.BuildEvent').decode(event),
      },
    })
    await acknowledged
  }

  async end(): Promise<void> {
    await this.publish(LAST)
    const ended = new Promise((resolve) => this.#stream.once('end', resolve))
    this.#stream.end()
    await ended
  }

  /** Asks for an execution. Resolves with the state that it is in first; the reader gets the rest. */
  async execute(step: Step) {
    const { name, target = '//:t', mnemonic = 'Genrule', output = name, environment = {}, headers = {} } = step
    const { client } = this.server
    const instanceName = step.instance ?? 'main'
    const digest = await new Uploader(client, instanceName, headers).action({
      arguments: [name],
      outputPaths: [output],
      environmentVariables: Object.entries(environment).map(([variable, value]) => ({ name: variable, value })),
    })
    const metadata = withHeaders(headers)
    const facts = { toolInvocationId: this.id, targetId: target, actionMnemonic: mnemonic }
    metadata.set(REQUEST_METADATA, metadataCodec.encode(facts))
    const request = { instanceName, actionDigest: digest.toMessage(), skipCacheLookup: true }
    const reader = new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata }))
    await reader.next()
    return { digest, reader }
  }
}
