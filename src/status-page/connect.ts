import { escaped } from './html.js'
import type { StatusPageParts } from './parts.js'

/** Options for clients of this server, ready to copy. `host` is the address that the reader of the page used. */
export const connect = ({ server, config }: StatusPageParts, host: string): string => {
  const { cas, execution } = server.services
  const [instance] = [...(execution.size > 0 ? execution : cas).keys()].filter((name) => name !== '*')
  if (cas.size === 0) return '<p class="none">this server has no CAS for clients</p>'
  const runs = execution.size > 0
  const isSecure = server.listener.tls !== undefined
  const facts: Facts = {
    address: `${isSecure ? 'grpcs' : 'grpc'}://${host}`,
    ...{ host, isSecure, runs, instance: instance ?? '' },
    needsToken: config.security !== undefined,
  }
  const clients = [
    ['Bazel (.bazelrc)', bazel(facts)],
    ['Buck2 (.buckconfig)', buck2(facts)],
    ['Siso', siso(facts)],
  ] as const
  const boxes = clients.map(([name, lines]) => `<div><h3>${name}</h3><pre>${escaped(lines.join('\n'))}</pre></div>`)
  return `<div class="clients">${boxes.join('')}</div>`
}

interface Facts {
  readonly address: string
  readonly host: string
  readonly instance: string
  readonly isSecure: boolean
  /** Whether it runs actions, or shares results only. */
  readonly runs: boolean
  readonly needsToken: boolean
}

const bazel = ({ address, instance, runs, needsToken }: Facts): readonly string[] => [
  `build --${runs ? 'remote_executor' : 'remote_cache'}=${address}`,
  ...(instance === '' ? [] : [`build --remote_instance_name=${instance}`]),
  ...(needsToken ? ['build --remote_header=authorization="Bearer TOKEN"'] : []),
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
