import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../src/proto/request-metadata.js'
import type { Limit, RateCase } from '../case.js'
import { digestOf, randomBlobs, store } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import {
  BRANCH_TOKEN,
  benchConfig,
  callersOnly,
  compressedResults,
  TOKEN,
  uncheckedResults,
  unpromised,
  withoutScopes,
  withScopes,
} from '../server/config.js'
import type { Server } from '../server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const AC = `/${REAPI}.ActionCache`
const getRequest = codec(`${REAPI}.GetActionResultRequest`)
const putRequest = codec(`${REAPI}.UpdateActionResultRequest`)
const resultCodec = codec(`${REAPI}.ActionResult`)

const NOT_FOUND = 5
const CONCURRENCY = 32

interface Variant {
  readonly name: string
  readonly isHit: boolean
  readonly isInlined: boolean
  readonly configure?: RateCase['configure']
  /** Says who calls. */
  readonly headers?: Request['headers']
  /** Says who reads, if that is not who writes. This one has first written another result. */
  readonly reader?: Request['headers']
  /** Connections; each carries CONCURRENCY calls at a time. Default 1. */
  readonly connections?: number
  /** Different actions, asked for in turn. Default 1. */
  readonly actions?: number
  /** Output files. Default 1; with more, the requests are fewer. */
  readonly outputs?: number
  /** Whether the server has a CAS. Default: unless it is configured otherwise. */
  readonly hasCas?: boolean
}

/** A result with output files and stdout, 1,000 bytes each. */
export const getActionResult = ({
  name,
  isHit,
  isInlined,
  configure,
  headers,
  reader,
  connections = 1,
  actions = 1,
  outputs = 1,
  hasCas = configure === undefined,
}: Variant): RateCase => {
  const [output = Buffer.alloc(0), stdout = Buffer.alloc(0), ...others] = randomBlobs(outputs + 1, 1000)
  const actionDigests = Array.from({ length: actions }, () => digestOf(randomBytes(100)))
  const hints = isInlined ? { inlineStdout: true, inlineOutputFiles: ['out/a'] } : {}
  const asking = reader ?? headers
  const ask = ({ instanceName }: Server, actionDigest = actionDigests[0]): Request => ({
    path: `${AC}/GetActionResult`,
    messages: [getRequest.encode({ instanceName, actionDigest, ...hints })],
    ...(asking && { headers: asking }),
    ...(isHit ? {} : { shape: 'absent', code: NOT_FOUND }),
    ...(outputs > 1 && { shape: `outputs-${outputs}` }),
  })
  const put = (
    { instanceName }: Server,
    actionDigest: (typeof actionDigests)[number],
    writer: Request['headers'] = headers,
  ): Request => {
    const actionResult = {
      outputFiles: [output, ...others].map((bytes, at) => ({
        path: at === 0 ? 'out/a' : `out/${at}`,
        digest: digestOf(bytes),
      })),
      stdoutDigest: digestOf(stdout),
      executionMetadata: { worker: 'bench' },
    }
    return {
      path: `${AC}/UpdateActionResult`,
      messages: [putRequest.encode({ instanceName, actionDigest, actionResult })],
      ...(writer && { headers: writer }),
    }
  }
  const check = (message: Buffer): void => {
    const { outputFiles, stdoutRaw } = resultCodec.decode(message)
    const isWhole = outputFiles[0]?.contents.equals(output) === true && stdoutRaw.equals(stdout)
    if (outputFiles.length !== outputs || (isInlined && !isWhole))
      throw new Error('another result came than was stored')
  }
  const run = (server: Server, requests: number) => {
    const options = { concurrency: CONCURRENCY * connections, connections }
    if (actions === 1) return repeat(server, ask(server), { requests, ...options })
    const asked = Array.from({ length: requests }, (_, at) => ask(server, actionDigests[at % actions]))
    return each(server, asked, options)
  }
  return {
    kind: 'rate',
    name,
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: Math.ceil(400 / Math.sqrt(outputs)), most: 50_000 },
    ...(configure === undefined ? {} : { configure }),
    setUp: async (server) => {
      if (isHit) {
        if (hasCas) await store(server, [output, stdout, ...others], headers)
        await each(
          server,
          actionDigests.map((actionDigest) => put(server, actionDigest)),
          { concurrency: CONCURRENCY },
        )
      }
      if (reader !== undefined)
        await each(server, [put(server, digestOf(randomBytes(100)), reader)], { concurrency: 1 })
      await each(server, [ask(server)], { concurrency: 1, check })
    },
    run,
    limits: [{ name: 'bare handler', usesBare: true, run }],
  }
}

/** RequestMetadata of one build, which then holds what the hit names. */
export const OF_A_BUILD: Request['headers'] = {
  [REQUEST_METADATA]: codec(`${REAPI}.RequestMetadata`)
    .encode({ toolInvocationId: '3ee1b0b0-5a6e-4a5e-9d0f-8a2f4f6c1d11' })
    .toString('base64'),
}

/** A hit for a build, with and without promises: `retention: 0` turns them off. */
const promisedHits = (outputs: number): readonly RateCase[] => {
  const variant = { isHit: true, isInlined: false, outputs, headers: OF_A_BUILD }
  const name = `GetActionResult hit, ${outputs.toLocaleString('en')} outputs`
  return [
    getActionResult({ ...variant, name }),
    getActionResult({ ...variant, name: `${name}, no promise`, configure: unpromised, hasCas: true }),
  ]
}

/** Of an action cache that compresses, beside a plain one. */
const compressedHits = (): RateCase => {
  const name = 'GetActionResult hit 4x32, compressed'
  const variant = { isHit: true, isInlined: false, hasCas: true, connections: 4 }
  const subject = getActionResult({ ...variant, name, configure: compressedResults })
  return { ...subject, limits: [{ name: 'plain', configure: benchConfig, usesBare: true, run: subject.run }] }
}

const AS_MAIN = { authorization: `Bearer ${TOKEN}` }
const AS_BRANCH = { authorization: `Bearer ${BRANCH_TOKEN}` }

/** The same calls with and without scopes, in one run. */
const scopedCases = (): readonly RateCase[] => {
  const cased = (
    name: string,
    more: Partial<Variant>,
    besides: readonly Omit<Limit, 'usesBare' | 'run'>[],
  ): RateCase => {
    const variant = { isHit: true, isInlined: false, hasCas: true, configure: withScopes, headers: AS_MAIN, ...more }
    const subject = getActionResult({ ...variant, name })
    return { ...subject, limits: besides.map((limit) => ({ ...limit, usesBare: true, run: subject.run })) }
  }
  const without = { name: 'without scopes', configure: withoutScopes }
  return [
    cased('GetActionResult hit, trusted beside scopes', {}, [without]),
    cased('GetActionResult hit, by a scope that misses its own', { reader: AS_BRANCH }, [without]),
    cased('GetActionResult hit, by a scope, its own', { headers: AS_BRANCH }, [without]),
    cased('GetActionResult miss, by a scope', { isHit: false, reader: AS_BRANCH }, [without]),
  ]
}

export const actionResultCases = (): readonly RateCase[] => [
  ...[1, 100, 10_000].flatMap(promisedHits),
  getActionResult({ name: 'GetActionResult hit', isHit: true, isInlined: false }),
  getActionResult({ name: 'GetActionResult hit 4x32', isHit: true, isInlined: false, connections: 4 }),
  getActionResult({ name: 'GetActionResult hit, 5,000 actions', isHit: true, isInlined: false, actions: 5000 }),
  getActionResult({ name: 'GetActionResult hit, inlined', isHit: true, isInlined: true }),
  getActionResult({
    name: 'GetActionResult hit, unchecked',
    isHit: true,
    isInlined: false,
    configure: uncheckedResults,
  }),
  getActionResult({
    name: 'GetActionResult hit, unchecked, with a token',
    isHit: true,
    isInlined: false,
    configure: callersOnly,
    headers: { authorization: `Bearer ${TOKEN}` },
  }),
  ...scopedCases(),
  compressedHits(),
  getActionResult({ name: 'GetActionResult miss', isHit: false, isInlined: false }),
]
