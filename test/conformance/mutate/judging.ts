/** Runs faulty servers, and lawful ones, past the checks that must see them, or must not. */
import type { Test } from 'tap'
import { checks } from '../../../conformance/checks/all.js'
import { lacks, openCandidate, servedServices } from '../../../conformance/exam/candidate.js'
import { mutatedServer } from '../../../conformance/mutate/mutated-server.js'
import type { Mutation } from '../../../conformance/mutate/mutation.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { type Result, runChecks } from '../../../conformance/run/runner.js'
import { startServer } from '../server.js'

/** Why a check is skipped for what the server need not have; the mutations that claim to have it run it all the same. */
const NOT_HERE = /^the server (does not|announces no|takes|serves Push)/
/** Mutations examined side by side: most of a check is waiting. */
const LANES = 8

const UNCHANGED: Mutation = { name: 'unchanged', breaks: 'Nothing.', caughtBy: [], tamper: () => [] }

/** Runs these checks through a proxy that does what `mutation` says, and gives their results by id. */
const examine = async (
  upstream: string,
  ids: ReadonlySet<string>,
  mutation: Mutation,
): Promise<ReadonlyMap<string, Result>> => {
  const proxy = await MutatingProxy.listen(upstream, mutation)
  try {
    const candidate = await openCandidate({
      // On a machine with other work the server is slow, not wrong. What waits for a deadline cannot wait for longer.
      ...mutatedServer(proxy.address, mutation.waitsMs === undefined ? 4 : 1),
      // Of the servers in mutations/cas/retention.ts; the one behind the proxy evicts nothing.
      storeBytes: 1_000_000,
    })
    const results = await runChecks(
      checks.filter(({ id }) => ids.has(id)),
      candidate,
      {
        concurrency: 8,
        missing: lacks(candidate, await servedServices(candidate)),
        isAlive: () => Promise.resolve(true),
        onResult: () => {},
      },
    )
    candidate.client.close()
    return new Map(results.map((result) => [result.requirement.id, result]))
  } finally {
    await proxy.close()
  }
}

/** These checks through a proxy that changes nothing; those that do not pass, with the reason. */
const divergences = async (upstream: string, ids: ReadonlySet<string>): Promise<string[]> => {
  const results = await examine(upstream, ids, UNCHANGED)
  return [...results.values()]
    .filter(({ verdict, reason }) => !(verdict === 'skip' && NOT_HERE.test(reason)))
    .filter(({ verdict }) => verdict !== 'pass' && verdict !== 'chosen')
    .map(({ requirement, verdict, reason }) => `${requirement.id} ${verdict}: ${reason}`)
}

const isFinding = (result: Result | undefined): boolean => result?.verdict === 'fail' || result?.verdict === 'warn'

/** Skipped, because another of these checks has reported that the method is absent, which is this mutation. */
const isTold = (result: Result | undefined, results: ReadonlyMap<string, Result>, { leavesOut = [] }: Mutation) => {
  if (result?.verdict !== 'skip' || result.unimplemented === undefined) return false
  const [, teller = ''] = / is not implemented; see (\S+)$/.exec(result.reason) ?? []
  const told = results.get(teller)
  return leavesOut.includes(result.unimplemented) && told?.unimplemented === result.unimplemented && isFinding(told)
}

/** Servers that use the freedom of the specification fail no row. */
export const blameNone = async (t: Test, variants: readonly Mutation[]): Promise<void> => {
  const upstream = await startServer(t)
  for (const variant of variants) {
    const results = await examine(upstream, new Set(variant.caughtBy), variant)
    const blamed = [...results.values()].filter(({ verdict }) => !['pass', 'chosen', 'skip'].includes(verdict))
    t.strictSame(
      blamed.map(({ requirement, reason }) => `${requirement.id}: ${reason}`),
      [],
      variant.name,
    )
    t.ok(
      [...results.values()].some(({ verdict }) => verdict !== 'skip') || variant.caughtBy.includes('AST-06'),
      `${variant.name}: something looks at it`,
    )
  }
}

/** The rows of each mutation that get another verdict than this. */
export const verdictsOtherThan = async (
  t: Test,
  verdict: Result['verdict'],
  mutations: readonly Mutation[],
): Promise<string[]> => {
  const upstream = await startServer(t)
  const others: string[] = []
  for (const mutation of mutations) {
    for (const result of (await examine(upstream, new Set(mutation.caughtBy), mutation)).values())
      if (result.verdict !== verdict)
        others.push(`${mutation.name} ${result.requirement.id} ${result.verdict}: ${result.reason}`)
  }
  return others
}

/** Each mutation is seen by its checks, and by none of them without it. */
export const seeEach = async (t: Test, mutations: readonly Mutation[]): Promise<void> => {
  const upstream = await startServer(t)
  const correct = divergences(upstream, new Set(mutations.flatMap(({ caughtBy }) => caughtBy)))
  const queue = [...mutations].sort((a, b) => (b.waitsMs ?? 0) - (a.waitsMs ?? 0))
  const lane = async (): Promise<void> => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      const results = await examine(upstream, new Set(mutation.caughtBy), mutation)
      const blind = mutation.caughtBy
        .map((id) => results.get(id))
        .filter((result) => !isFinding(result) && !isTold(result, results, mutation))
        .map((result) => `${result?.requirement.id} ${result?.verdict}: ${result?.reason}`)
      t.strictSame(blind, [], `${mutation.name}: checks that do not see it`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  t.strictSame(await correct, [], 'the server is correct through a proxy that changes nothing')
}
