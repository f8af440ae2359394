import type { ServerSources } from './sources.js'

/** Options for clients of this server, ready to copy. `host` is the address that the reader of the page used. */
export const Connect = ({ of: { server, config }, host }: { readonly of: ServerSources; readonly host: string }) => {
  const { cas, execution } = server.services
  const [instance] = [...(execution.size > 0 ? execution : cas).keys()].filter((name) => name !== '*')
  if (cas.size === 0) return <p class="none">This server has no CAS for clients.</p>
  const runs = execution.size > 0
  const isSecure = server.listener.tls !== undefined
  const facts: Facts = {
    address: `${isSecure ? 'grpcs' : 'grpc'}://${host}`,
    ...{ host, isSecure, runs, instance: instance ?? '' },
    sendsEvents: server.services.build_events !== undefined,
    page: server.services.pages && `${isSecure ? 'https' : 'http'}://${host}${server.services.pages.path}`,
    needsToken: config.security !== undefined,
  }
  const clients = [
    ['Bazel (.bazelrc)', bazel(facts)],
    ['Buck2 (.buckconfig)', buck2(facts)],
    ['Siso', siso(facts)],
  ] as const
  return (
    <div class="clients">
      {clients.map(([name, lines]) => (
        <div>
          <h3>{name}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways */}
          <section class="scrolled" aria-label={`Options for ${name}`} tabIndex={0}>
            <pre>{lines.join('\n')}</pre>
          </section>
        </div>
      ))}
    </div>
  )
}

interface Facts {
  readonly address: string
  readonly host: string
  readonly instance: string
  readonly isSecure: boolean
  /** Whether it runs actions, or shares results only. */
  readonly runs: boolean
  readonly sendsEvents: boolean
  /** Of the pages; undefined without them. */
  readonly page: string | undefined
  readonly needsToken: boolean
}

const bazel = ({ address, instance, runs, needsToken, sendsEvents, page }: Facts): readonly string[] => [
  `build --${runs ? 'remote_executor' : 'remote_cache'}=${address}`,
  ...(instance === '' ? [] : [`build --remote_instance_name=${instance}`]),
  ...(sendsEvents ? [`build --bes_backend=${address}`] : []),
  ...(sendsEvents && instance !== '' ? [`build --bes_instance_name=${instance}`] : []),
  ...(sendsEvents && page !== undefined ? [`build --bes_results_url=${page.replace(/\/$/, '')}/invocation/`] : []),
  ...(needsToken ? ['build --remote_header=authorization="Bearer TOKEN"'] : []),
  ...(needsToken && sendsEvents ? ['build --bes_header=authorization="Bearer TOKEN"'] : []),
]

const buck2 = ({ address, instance, isSecure, needsToken }: Facts): readonly string[] => [
  '[buck2_re_client]',
  ...['engine_address', 'action_cache_address', 'cas_address'].map((name) => `${name} = ${address}`),
  `instance_name = ${instance}`,
  `tls = ${isSecure}`,
  ...(needsToken ? ['http_headers = authorization:Bearer TOKEN'] : []),
]

const siso = ({ host, instance, isSecure }: Facts): readonly string[] => [
  `siso ninja -C out -reapi_address=${host}${isSecure ? '' : ' -reapi_insecure'}`,
  ...(instance === '' ? [] : [`  -reapi_instance=${instance}`]),
]
