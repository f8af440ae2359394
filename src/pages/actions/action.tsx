import { posix } from 'node:path'
import type { ComponentChildren } from 'preact'
import { counted } from '../../base/quantities.js'
import { codeName, isStatus } from '../../base/status-error.js'
import { getBytes, missingOf } from '../../blobs/store.js'
import { readAction, readCommand } from '../../content/action.js'
import { resultIn } from '../../misses/evidence.js'
import type {
  Action,
  ActionResult,
  Command,
  ExecuteResponse,
} from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { toMs } from '../../proto/time.js'
import { Digest } from '../../reapi/digest.js'
import { historicalResponse } from '../../reapi/kept-response.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import type { Page, Visit } from '../page.js'
import { Copyable } from '../parts/copyable.js'
import { textData } from '../parts/data.js'
import { type InQueue, InQueueLinks } from '../parts/in-queue.js'
import { Said, saidText } from '../parts/said.js'
import { durationText, Facts, Note } from '../parts/small.js'
import { Table } from '../parts/table.js'
import { addressesOf, addressOf, blobIn } from './address.js'
import { CommandParts } from './command.js'
import { DigestLink } from './digest.js'
import { Execution, executionFactsData } from './execution.js'
import { Logs, logsOf, type ShownLog } from './log.js'
import { OutputsTable, outputsOf, type ShownOutput } from './outputs.js'
import { actionCommand } from './reproduce.js'
import { type RequestsParts, RequestsTable, requestData } from './requests.js'
import { type PrintedOf, RunningOutput, runningData, runningOutput } from './running.js'
import { type PageStores, type StoresOf, seesResults, storesFor } from './stores.js'

export interface ActionPageParts extends RequestsParts {
  readonly storesOf: StoresOf
  readonly inQueueOf: (visit: Visit, instance: string, action: Digest) => Promise<InQueue>
  readonly printedOf: PrintedOf
}

/** One action: what it is, and what became of it. */
export const actionPage = (parts: ActionPageParts): Page => ({
  address: addressesOf('action'),
  show: async (visit) => {
    const { instance, digest } = blobIn(visit)
    const stores = storesFor(visit, instance, parts.storesOf)
    const [action, result] = await Promise.all([
      orAbsent(readAction(stores.cas, digest, visit.request)),
      seesResults(visit, instance) && stores.results ? resultIn(stores.results, digest, visit.request) : undefined,
    ])
    const requests = seesResults(visit, instance) ? await parts.requestsOf(instance, digest) : []
    if (action === undefined && result === undefined && requests.length === 0)
      throw visit.absent(`action ${digest.key} in instance ${JSON.stringify(instance)}`)
    const context: Context = { visit, instance, digest, stores }
    const seen = await seenOf(action, result, context)
    const { command } = seen
    const facts = { command, requests, digest }
    const running = seesResults(visit, instance) ? await runningOutput(parts.printedOf, instance, digest) : undefined
    if (visit.isForProgram)
      return {
        title: titleOf(facts),
        body: null,
        data: {
          ...actionData(seen, context),
          requests: requests.map(requestData),
          runningOutput: running && runningData(running),
        },
      }
    const inQueue = await parts.inQueueOf(visit, instance, digest)
    const body = (
      <>
        <Heading facts={facts} visit={visit} instance={instance} exitCode={result?.exitCode} />
        <InQueueLinks of={inQueue} visit={visit} only={{ action: digest.key }} />
        {running !== undefined && <RunningOutput of={running} visit={visit} />}
        {seesResults(visit, instance) ? (
          <Result seen={seen} context={context} />
        ) : (
          <Note>Results are for readers with the permission read_ac.</Note>
        )}
        {action === undefined ? (
          <Note tone="warn">
            The Action is not in the CAS. Bazel without remote execution uploads it with its result only.
          </Note>
        ) : (
          <CommandParts command={command} visit={visit} instance={instance} digest={commandDigestOf(action, digest)} />
        )}
        <ActionFacts of={action} context={context} />
        <RequestsTable of={requests} visit={visit} instance={instance} action={digest} />
      </>
    )
    const isLive = running === undefined ? undefined : visit.query.get('live') !== 'off'
    return { title: titleOf(facts), body, isLive }
  },
})

/**
 * A response of an Execute whose result is in no action cache, because it failed or must not be cached: a
 * HistoricalExecuteResponse, as this server and Buildbarn's workers keep it.
 */
export const responsePage = ({ storesOf, inQueueOf, requestsOf }: ActionPageParts): Page => ({
  address: addressesOf('historical_execute_response'),
  show: async (visit) => {
    const { instance, digest: responseDigest } = blobIn(visit)
    const stores = storesFor(visit, instance, storesOf)
    if (!seesResults(visit, instance)) throw visit.absent('response of an action')
    visit.demand('read_ac', instance)
    const bytes = await getBytes(stores.cas, responseDigest, MAX_RESPONSE_BYTES, visit.request)
    const { actionDigest, executeResponse } = historicalResponse.decode(bytes)
    const digest = Digest.parse(actionDigest, responseDigest.function, 'action_digest of the response')
    const context: Context = { visit, instance, digest, stores }
    const action = await orAbsent(readAction(stores.cas, digest, visit.request))
    const result = executeResponse?.result ?? undefined
    const seen = await seenOf(action, result, context)
    const { command } = seen
    const facts = { command, requests: await requestsOf(instance, digest), digest }
    const words = statusWords(executeResponse)
    if (visit.isForProgram)
      return { title: titleOf(facts), body: null, data: { ...actionData(seen, context), response: words } }
    const inQueue = await inQueueOf(visit, instance, digest)
    const body = (
      <>
        <Heading facts={facts} visit={visit} instance={instance} exitCode={result?.exitCode} />
        <Note tone={result?.exitCode === 0 ? 'warn' : 'bad'}>
          <p>
            <strong>{words}</strong>
          </p>
          <p>
            {'What became of one run, which no action cache keeps. '}
            <a href={visit.to(addressOf(instance, 'action', digest))}>The action</a> may have another result by now.
          </p>
        </Note>
        <InQueueLinks of={inQueue} visit={visit} only={{ action: digest.key }} />
        <Result seen={seen} context={context} />
        {action !== undefined && (
          <CommandParts command={command} visit={visit} instance={instance} digest={commandDigestOf(action, digest)} />
        )}
        <ActionFacts of={action} context={context} />
      </>
    )
    return { title: titleOf(facts), body }
  },
})

const MAX_RESPONSE_BYTES = 16 * 1024 * 1024

const statusWords = (response: ExecuteResponse | null): string => {
  const { status = null, result = null, message = '' } = response ?? {}
  const words = [
    ...(status !== null && status.code !== 0 ? [`${codeName(status.code)}: ${status.message}`] : []),
    ...(result === null ? ['no result'] : [`exit code ${result.exitCode}`]),
    ...(message === '' ? [] : [message]),
  ]
  return saidText(words.join(', ').slice(0, 1000))
}

interface Context {
  readonly visit: Visit
  readonly instance: string
  readonly digest: Digest
  readonly stores: PageStores
}

interface TitleFacts {
  readonly command: Command | undefined
  /** About the action, the newest first. */
  readonly requests: readonly RequestRecord[]
  readonly digest: Digest
}

const MAX_TITLE = 80

/** Target and mnemonic if a client said them, else the first output or the program. */
const titleOf = ({ command, requests, digest }: TitleFacts): string => {
  const said = requests.find(({ target }) => target !== '')
  if (said !== undefined) return saidText(`${said.target} ${said.mnemonic}`.trim())
  const [program] = command?.arguments ?? []
  const [output] = [...(command?.outputPaths ?? []), ...(command?.outputFiles ?? [])]
  const what = output ?? (program === undefined ? digest.hash.slice(0, 12) : posix.basename(program))
  return saidText(`Action: ${what.length > MAX_TITLE ? `…${what.slice(-MAX_TITLE)}` : what}`)
}

/** Ids of builds that a link here may name. */
const BUILD = /^[A-Za-z0-9._-]{1,128}$/

/** What it is, how it ended, the way back to the build, and what runs it again. */
const Heading = ({
  facts,
  visit,
  instance,
  exitCode,
}: {
  readonly facts: TitleFacts
  readonly visit: Visit
  readonly instance: string
  readonly exitCode: number | undefined
}) => {
  const asked = visit.query.get('build') ?? ''
  const build = BUILD.test(asked)
    ? asked
    : (facts.requests.find(({ invocation }) => BUILD.test(invocation))?.invocation ?? '')
  const again = actionCommand(`${visit.origin}${visit.to(addressOf(instance, 'action', facts.digest))}`)
  return (
    <>
      <p class="crumb">
        <a href={visit.to('')}>Builds</a>
        {build !== '' && (
          <>
            {' › '}
            <a href={visit.to(`invocation/${build}`, { instance })}>{`Build ${build.slice(0, 8)}`}</a>
          </>
        )}
      </p>
      <h1>
        {exitCode !== undefined && (
          <>
            <span class={`badge ${exitCode === 0 ? 'good' : 'bad'}`}>{`exit code ${exitCode}`}</span>{' '}
          </>
        )}
        <Said text={titleOf(facts)} />
      </h1>
      {again !== undefined && <Copyable label="Run it again" text={again} />}
    </>
  )
}

/** Undefined for what is absent, or is no such message. */
const orAbsent = async <T,>(read: Promise<T>): Promise<T | undefined> => {
  try {
    return await read
  } catch (error) {
    if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'INVALID_ARGUMENT')) return undefined
    throw error
  }
}

const commandDigestOf = ({ commandDigest }: Action, { function: digestFunction }: Digest): Digest =>
  Digest.parse(commandDigest, digestFunction, 'command_digest')

const commandOf = (action: Action, { digest, stores, visit }: Context): Promise<Command | undefined> =>
  orAbsent(readCommand(stores.cas, commandDigestOf(action, digest), visit.request))

const ActionFacts = ({
  of: action,
  context: { visit, instance, digest },
}: {
  readonly of: Action | undefined
  readonly context: Context
}) => {
  const root = action && Digest.parse(action.inputRootDigest, digest.function, 'input_root_digest')
  const salt = action?.salt ?? NOTHING
  const facts: (readonly [string, ComponentChildren])[] = [
    ['Digest', <code>{digest.key}</code>],
    ['Instance', instance === '' ? 'default (no name)' : instance],
    ['Input root', root && <DigestLink {...{ visit, instance, kind: 'directory', digest: root }} />],
    [
      'Command',
      action && <DigestLink {...{ visit, instance, kind: 'command', digest: commandDigestOf(action, digest) }} />,
    ],
    ['Timeout', action && (action.timeout === null ? 'the longest allowed' : durationText(toMs(action.timeout)))],
    ['Salt', salt.length > 0 ? <code>{saltText(salt)}</code> : undefined],
    ['Cached', action && (action.doNotCache ? 'never (do_not_cache)' : 'if it succeeds')],
  ]
  return (
    <>
      <h2>The action</h2>
      <Facts of={facts} />
      <Platform of={action} />
    </>
  )
}

const NOTHING = Buffer.alloc(0)
const MAX_SALT_BYTES = 64
const saltText = (salt: Buffer): string =>
  `${salt.subarray(0, MAX_SALT_BYTES).toString('hex')}${salt.length > MAX_SALT_BYTES ? '…' : ''}`

const Platform = ({ of: action }: { readonly of: Action | undefined }) => {
  const properties = action?.platform?.properties ?? []
  return properties.length === 0 ? null : (
    <Table
      caption="Platform"
      columns={[
        { head: 'Property', kind: 'name', cell: ({ name }) => <Said text={name} /> },
        { head: 'Value', kind: 'text', cell: ({ value }) => <Said text={value} /> },
      ]}
      rows={properties}
      none=""
    />
  )
}

/** More outputs are not checked for their presence. */
const MAX_CHECKED = 10_000

const shownOutputs = async (
  result: ActionResult,
  command: Command | undefined,
  { stores, digest, visit }: Context,
): Promise<readonly ShownOutput[]> => {
  const outputs = outputsOf(result, command, digest.function)
  const digests = outputs.flatMap(({ digest: of }) => of ?? []).slice(0, MAX_CHECKED)
  const missing = new Set((await missingOf(stores.cas, digests, visit.request)).map(({ key }) => key))
  return outputs.map((output) => ({ ...output, isGone: output.digest !== undefined && missing.has(output.digest.key) }))
}

/** An action and its result, as far as the reader may see them. */
interface SeenAction {
  readonly action: Action | undefined
  readonly command: Command | undefined
  readonly result: ActionResult | undefined
  readonly outputs: readonly ShownOutput[]
  readonly logs: readonly ShownLog[]
}

const seenOf = async (
  action: Action | undefined,
  result: ActionResult | undefined,
  context: Context,
): Promise<SeenAction> => {
  const command = action && (await commandOf(action, context))
  if (result === undefined) return { action, command, result, outputs: [], logs: [] }
  const [outputs, logs] = [
    await shownOutputs(result, command, context),
    await logsOf(result, { ...context, cas: context.stores.cas }),
  ]
  return { action, command, result, outputs, logs }
}

const actionData = (
  { action, command, result, outputs, logs }: SeenAction,
  { digest, instance, visit }: Context,
): object => ({
  action: digest.key,
  instance,
  arguments: command?.arguments.map((word) => textData(word) ?? ''),
  // Values may be secrets: as on the page, the names alone.
  environment: command?.environmentVariables.map(({ name }) => textData(name) ?? ''),
  platform: action?.platform?.properties.map(({ name, value }) => ({ name: textData(name), value: textData(value) })),
  timeoutMs: action?.timeout === null || action === undefined ? undefined : toMs(action.timeout),
  exitCode: result?.exitCode,
  execution: result && executionFactsData(result, visit.request.visitor?.maySeeOrigins(instance) ?? true),
  outputs: outputs.map(({ path, what, digest: of, isGone }) => ({
    ...{ path: textData(path), what, digest: of?.key },
    isGone: isGone || undefined,
  })),
  logs: logs.map(({ name, sizeBytes, digest: of, plain }) => ({ name, sizeBytes, digest: of?.key, lines: plain })),
})

const Result = ({
  seen: { result, outputs, logs },
  context,
}: {
  readonly seen: SeenAction
  readonly context: Context
}) => {
  const { visit, instance } = context
  if (result === undefined) return <Note>The action cache has no result of this action.</Note>
  const goneCount = outputs.filter(({ isGone }) => isGone).length
  return (
    <>
      {goneCount > 0 && (
        <Note tone="warn">{`The CAS has lost ${counted(goneCount, 'output')}, so the result is a miss.`}</Note>
      )}
      <Logs of={logs} visit={visit} instance={instance} />
      <Execution of={result} seesOrigins={visit.request.visitor?.maySeeOrigins(instance) ?? true} />
      <h2>Outputs</h2>
      <OutputsTable of={outputs} visit={visit} instance={instance} />
    </>
  )
}
