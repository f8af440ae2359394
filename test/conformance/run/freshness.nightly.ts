import t, { type Test } from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { EMPTY_DIGEST } from '../../../conformance/exam/exam.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { fieldsOf } from '../../../conformance/session/compare.js'
import { sessions } from '../../../conformance/session/session-checks.js'
import { conformance, type Ended } from '../program.js'
import { startServer } from '../server.js'
import { isOwn, type ObservedCall, Observer, type RequestMetadata } from './observer.js'

// For changes in: conformance

// Two runs beside each other, each seen by a proxy that changes nothing: what they upload and who they say they are.

// Two runs and two proxies: over half a minute on two cores with other work, and more where there is more of it.
t.setTimeout(300_000)

/** Clients that send no RequestMetadata. */
const SILENT = ['SES-buck2', 'SES-moon-plain', 'SES-moon-zstd', 'SES-pants', 'SES-recc', 'SES-siso']

/** Half a minute of pings, and nothing uploaded. */
const SLOW = 'GEN-09'

const address = await startServer(t)
const observers = [new Observer(), new Observer()] as const
const ids = checks.map(({ id }) => id).filter((id) => id !== SLOW)
const speaking = sessions.map(({ id }) => id).filter((id) => !SILENT.includes(id))

/** What the suite's own calls belong to: a check, or finding out what the server has. */
const known = new Set([...ids, 'capabilities'])

const recorded = new Set(
  sessions.flatMap(({ calls, metadata }) =>
    calls.map((call) => fieldsOf({ ...metadata, ...call.metadata }['toolDetails'])['toolName']),
  ),
)

const observe = async ({ mutation }: Observer, ids: readonly string[]): Promise<Ended> => {
  const proxy = await MutatingProxy.listen(address, mutation)
  try {
    return await conformance(
      proxy.address,
      ...['--second-instance-name', 'second', '--read-only-instance', 'frozen'],
      ...['--cache-only-instance', 'projects/p/instances/i', '--property', 'OSFamily=Linux'],
      ...['--patience', '4', '--quiet', '--only', ids.join(',')],
    )
  } finally {
    await proxy.close()
  }
}

const runs = Promise.all([observe(observers[0], [...ids, ...speaking]), observe(observers[1], ids)])

t.test('two runs beside each other pass', async (t) => {
  for (const { code, stdout } of await runs) t.equal(code, 0, stdout)
})

t.test('nothing that one run writes is written by another', async (t) => {
  await runs
  const [first, second] = observers.map(({ written }) => written)
  t.ok(first && second && first.size > 1_000 && second.size > 1_000, `${first?.size} and ${second?.size} written`)
  t.ok(second?.has(EMPTY_DIGEST.hash), 'only the empty blob is the same in every run')
  const common = [...(first ?? [])].filter(([hash]) => hash !== EMPTY_DIGEST.hash && second?.has(hash))
  t.same(common, [])
})

t.test('every call names its tool, its run and its check', async (t) => {
  await runs
  const invocations = observers.map(({ calls }) => invocationOf(t, calls))
  t.not(invocations[0], invocations[1], 'each run is an invocation of its own')
})

t.test('the sessions whose calls say nothing are those named here', async (t) => {
  const isSilent = (metadata: object): boolean => Object.keys(metadata).length === 0
  const silent = sessions.filter(({ calls, metadata }) =>
    calls.some((call) => isSilent({ ...metadata, ...call.metadata })),
  )
  t.same(
    silent.map(({ id }) => id),
    SILENT,
  )
})

/** The checks of the header leave it out once, break it once, and name a tool of their own. */
const invocationOf = (t: Test, calls: readonly ObservedCall[]): string | undefined => {
  t.same(
    calls.flatMap(({ method, metadata }) => (typeof metadata === 'string' ? `${metadata} ${method}` : [])).sort(),
    ['garbage FindMissingBlobs', 'none FindMissingBlobs'],
  )
  const told = calls.flatMap(({ metadata }) => (typeof metadata === 'string' ? [] : [metadata]))
  const own = told.filter(isOwn)
  t.ok(own.length > 1_000, `${own.length} calls of the suite's own`)
  const toolOf = ({ toolDetails }: RequestMetadata): string => toolDetails?.toolName ?? ''
  const others = new Set(told.filter((metadata) => !isOwn(metadata)).map(toolOf))
  t.same(
    [...others].filter((name) => name !== 'conformance' && !recorded.has(name)),
    [],
  )
  const strange = own.filter(
    ({ actionId, toolDetails }) => !known.has(actionId) || !/^\d+\.\d+\.\d+/.test(toolDetails?.toolVersion ?? ''),
  )
  t.same(strange, [])
  const invocations = [...new Set(own.map(({ toolInvocationId }) => toolInvocationId))]
  t.equal(invocations.length, 1)
  t.match(invocations[0], /^[0-9a-f-]{36}$/)
  return invocations[0]
}
