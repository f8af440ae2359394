import type protobuf from 'protobufjs/light.js'
import { checks } from '../../checks/all.js'
import { type Candidate, type CandidateSettings, lacks, openCandidate, servedServices } from '../../exam/candidate.js'
import type { Check } from '../../requirements/check.js'
import { type Result, runChecks } from '../../run/runner.js'
import { checkOf, sessions } from '../../session/session-checks.js'
import { actionIdOf, REQUEST_METADATA } from '../../wire/identity.js'
import type { Mutation } from '../mutation.js'
import { MutatingProxy } from '../proxy/proxy.js'
import { type FieldPath, fieldsIn, typeOf } from './fields.js'
import { type Catalogue, responseCodecOf } from './seeded.js'

/** What a run against a correct server saw: which rows had which field in which response, and how long each took. */
export interface Survey {
  readonly catalogue: Catalogue
  /** By method and field. */
  readonly rowsOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly elapsedMs: ReadonlyMap<string, number>
}

/** The row of the first question, which every run asks for itself. */
export const AT_THE_START = 'capabilities'

const replays = sessions.map(checkOf)
/** All checks but the one that waits half a minute for pings and sees no field. */
const ownChecks = checks.filter(({ id }) => id !== 'GEN-09')
/** All that can object. */
export const judges: readonly Check[] = [...ownChecks, ...replays]

export const examined = async (
  candidate: Candidate,
  chosen: readonly Check[],
  lacking: ReturnType<typeof lacks>,
  concurrency = chosen.length,
): Promise<Result[]> =>
  runChecks(chosen, candidate, {
    concurrency,
    missing: lacking,
    isAlive: () => Promise.resolve(true),
    onResult: () => {},
  })

const AT_ONCE = 8

/**
 * Runs all rows against a server that must be correct. Those that have something to say of it are asked again, one by one: it may
 * have been the machine. Throws when one still has.
 */
export const survey = async (settings: CandidateSettings): Promise<Survey> => {
  const seen = new Sight()
  const asked = await seen.during(settings, ownChecks, actionIdOf)
  // Sessions send the metadata of their clients, so each has a proxy of its own to be recognised by.
  const replayed = (replay: Check): Promise<Result[]> => seen.during(settings, [replay], () => replay.id)
  const queue = [...replays]
  const lane = async (): Promise<void> => {
    for (let replay = queue.shift(); replay !== undefined; replay = queue.shift())
      asked.push(...(await replayed(replay)))
  }
  await Promise.all(Array.from({ length: AT_ONCE / 2 }, lane))
  const results: Result[] = asked.filter(isFit)
  for (const { requirement } of asked.filter((result) => !isFit(result))) {
    const [own, replay] = [ownChecks, replays].map((list) => list.find(({ id }) => id === requirement.id))
    if (own !== undefined) results.push(...(await seen.during(settings, [own], actionIdOf)))
    else if (replay !== undefined) results.push(...(await replayed(replay)))
  }
  const unfit = results.filter((result) => !isFit(result))
  if (unfit.length > 0) {
    const told = unfit.map(({ requirement, reason }) => `${requirement.id} ${reason}`)
    throw new Error(`not a correct server: ${told.join('; ')}`)
  }
  const elapsedMs = new Map(results.map(({ requirement, elapsedMs }) => [requirement.id, elapsedMs]))
  return { catalogue: seen.catalogue, rowsOf: seen.rowsOf, elapsedMs }
}

const isFit = ({ verdict }: Result): boolean => ['pass', 'chosen', 'skip'].includes(verdict)

/** What passes by. */
class Sight {
  readonly catalogue = new Map<string, Map<FieldPath, protobuf.Field>>()
  readonly rowsOf = new Map<string, Set<string>>()

  async during(settings: CandidateSettings, chosen: readonly Check[], rowOf: (header: unknown) => string | undefined) {
    const proxy = await MutatingProxy.listen(settings.address, this.#watching(rowOf))
    const candidate = await openCandidate({ ...settings, address: proxy.address })
    try {
      return await examined(candidate, chosen, lacks(candidate, await servedServices(candidate)), AT_ONCE)
    } finally {
      candidate.client.close()
      await proxy.close()
    }
  }

  #watching(rowOf: (header: unknown) => string | undefined): Mutation {
    return {
      name: 'watched',
      breaks: 'Nothing.',
      caughtBy: [],
      tamper: () => ({
        method: 'every method',
        response: (message, { path, headers }) => {
          const row = rowOf(headers[REQUEST_METADATA])
          if (row !== undefined && !Buffer.isBuffer(message)) this.#note(path.slice(1), message, row)
          return undefined
        },
      }),
    }
  }

  #note(method: string, message: object, row: string): void {
    for (const [path, field] of fieldsIn(typeOf(responseCodecOf(method).typeName), message)) {
      const fields = this.catalogue.get(method) ?? new Map<FieldPath, protobuf.Field>()
      this.catalogue.set(method, fields.set(path, field))
      const key = `${method} ${path}`
      this.rowsOf.set(key, (this.rowsOf.get(key) ?? new Set()).add(row))
    }
  }
}
