import type { ComponentChildren } from 'preact'
import type { Cause } from '../../misses/cause.js'
import { Digest } from '../../reapi/digest.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import { addressOf } from '../actions/address.js'
import type { Visit } from '../page.js'
import { Said } from '../parts/said.js'
import { Time } from '../parts/small.js'

interface Context {
  readonly visit: Visit
  readonly instance: string
}

export const BuildLink = ({ of, visit, instance }: Context & { readonly of: string }) =>
  of === '' ? (
    <>a client without a build</>
  ) : (
    <a href={visit.to(`invocation/${of}`, { instance })}>
      <Said text={of} max={80} />
    </a>
  )

export const actionLink = (key: string, { visit, instance }: Context): string | undefined => {
  const digest = Digest.ofKey(key)
  return digest && visit.to(addressOf(instance, 'action', digest))
}

/** A link, or the text alone if there is no page. */
export const Linked = ({ to, children }: { readonly to: string | undefined; readonly children: ComponentChildren }) => {
  if (to === undefined) return <span>{children}</span>
  return <a href={to}>{children}</a>
}

/** What is known beside the words of a cause: times, builds, and what to do. */
export const CauseDetail = ({ of: cause, miss, visit, instance }: Context & { of: Cause; miss: RequestRecord }) => {
  const context = { visit, instance }
  switch (cause.kind) {
    case 'never built':
      return (
        <p>
          No earlier action of this target makes the same output
          {cause.sinceMs !== undefined && (
            <>
              {' '}
              in what the server remembers, which begins at <Time ms={cause.sinceMs} />
            </>
          )}
          .
        </p>
      )
    case 'evicted':
      return (
        <p>
          It was {cause.last.outcome === 'hit' ? 'a hit' : 'written'} at <Time ms={cause.last.timeMs} /> for{' '}
          <BuildLink of={cause.last.invocation} {...context} />, and gone at <Time ms={miss.timeMs} />.{' '}
          {cause.evictedMs === undefined ? (
            'In between the action cache evicted it, or somebody removed it.'
          ) : (
            <>
              The action cache evicted it at <Time ms={cause.evictedMs} />.
            </>
          )}{' '}
          A larger cache or a longer retention keeps results longer.
        </p>
      )
    case 'never written':
      return (
        <p>
          The last request before was a {cause.last.outcome} at <Time ms={cause.last.timeMs} />, for{' '}
          <BuildLink of={cause.last.invocation} {...context} />. Clients write no result if the action failed, if they
          may not write, or if their upload failed.
        </p>
      )
    case 'output gone':
      return (
        <p>
          The action cache has the result, but the CAS lacks an output that it names
          {cause.output !== undefined && (
            <>
              {' '}
              (<code>{cause.output.key}</code>)
            </>
          )}
          {cause.evictedMs !== undefined && (
            <>
              , which was evicted at <Time ms={cause.evictedMs} />
            </>
          )}
          . A larger CAS, or the same retention for both stores, avoids that.
        </p>
      )
    case 'different':
      return (
        <p>
          Compared with <EarlierLink of={cause.earlier} {...context} /> of{' '}
          <BuildLink of={cause.earlier.invocation} {...context} />, at <Time ms={cause.earlier.timeMs} />.
        </p>
      )
    default:
      return null
  }
}

const EarlierLink = ({ of, visit, instance }: Context & { readonly of: RequestRecord }) => (
  <Linked to={actionLink(of.action, { visit, instance })}>the last action like it</Linked>
)
