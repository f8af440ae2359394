import type { Kept } from '../../builds/entry.js'
import { Digest } from '../../reapi/digest.js'
import { addressOf } from '../actions/address.js'
import type { Page, Visit } from '../page.js'
import { mappedInTurns } from '../parts/in-turns.js'
import type { DetailsOfBuilds } from './details.js'
import type { BuildPagesParts } from './invocation.js'
import { READ_BUILDS } from './row.js'

/** Builds whose ids begin alike. Random ids do not. */
const MAX_BUILDS = 4

/** The begin of the hash of an action, and if it is known the begin of the id of a build that ran it: leads to its page. */
export const shortLinkPage = (parts: BuildPagesParts, all: DetailsOfBuilds | undefined): Page => ({
  address: /^a\/(?<hash>[0-9a-f]{8,128})(?:\.(?<build>[0-9a-f]{8}))?$/,
  show: async (visit) => {
    const { hash = '', build } = visit.named
    const found =
      (build && (await inBuilds(hash, build, { visit, parts, all }))) || (await inRecords(hash, visit, parts))
    const digest = found && Digest.ofKey(found.action)
    if (found === undefined || digest === undefined) throw visit.absent(`action ${hash} that this server remembers`)
    const response = found.response === undefined ? undefined : Digest.ofKey(found.response)
    const address =
      response === undefined
        ? addressOf(found.instance, 'action', digest)
        : addressOf(found.instance, 'historical_execute_response', response)
    const location = visit.to(address, { build: found.invocation })
    if (visit.isForProgram)
      return {
        title: 'Action',
        body: null,
        data: { action: found.action, instance: found.instance, url: `${visit.origin}${location}` },
      }
    return { status: 302, headers: { location, 'cache-control': 'no-store' } }
  },
})

interface Found {
  readonly action: string
  readonly instance: string
  readonly response?: string | undefined
  readonly invocation: string
}

interface Context {
  readonly visit: Visit
  readonly parts: BuildPagesParts
  readonly all: DetailsOfBuilds | undefined
}

/** In the executions of the builds that have them on disk. */
const inBuilds = async (hash: string, build: string, { visit, parts, all }: Context): Promise<Found | undefined> => {
  const fits = ({ summary: { about } }: Kept): boolean =>
    about.invocationId.startsWith(build) && visit.may(READ_BUILDS, about.instance)
  const kept = (parts.builds?.list() ?? []).filter(fits).slice(0, MAX_BUILDS)
  for (const one of kept) {
    const now = (await parts.builds?.find(one.key)) ?? one
    const details = await all?.of(now, visit.request.signal)
    const found = details?.own.executions.findLast(
      ({ action, instance }) => hashOf(action).startsWith(hash) && visit.may('read_cas', instance),
    )
    if (found !== undefined) return { ...found, invocation: one.summary.about.invocationId }
  }
  return undefined
}

/** In the last requests, of which a server remembers some thousand. */
const inRecords = async (hash: string, visit: Visit, { records }: BuildPagesParts): Promise<Found | undefined> => {
  const found = await mappedInTurns(records, ({ action, instance, execution, invocation }): Found | undefined =>
    hashOf(action).startsWith(hash) && visit.may('read_cas', instance) && Digest.ofKey(action) !== undefined
      ? { action, instance, response: execution?.response, invocation }
      : undefined,
  )
  return found.find(({ response }) => response !== undefined) ?? found[0]
}

/** Keys of other functions than the usual one begin with its name. */
const hashOf = (key: string): string => key.slice(key.lastIndexOf('-', key.lastIndexOf('-') - 1) + 1)
