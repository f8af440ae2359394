import type { StoreOptions } from '../config.js'
import type { LintContext } from './context.js'

type Options = StoreOptions['experimental_cloud_object_store']
type Key = keyof Options

interface Keys {
  readonly needs: readonly Key[]
  readonly takes: readonly Key[]
  /** Determines the service address if none is configured. */
  readonly account?: 'account_name' | 'account_id' | 'namespace'
}

/** Keys of each provider, in addition to the common ones. */
const KEYS: Readonly<Record<Options['provider'], Keys>> = {
  aws: { needs: ['bucket'], takes: ['region'] },
  gcs: {
    needs: ['bucket'],
    takes: ['resumable_chunk_size', 'authentication_required', 'connection_timeout_s', 'read_timeout_s'],
  },
  azure: { needs: ['container'], takes: ['account_name', 'sas_url'], account: 'account_name' },
  ontap: { needs: ['endpoint', 'vserver_name', 'bucket'], takes: ['root_certificates'] },
  r2: { needs: ['bucket'], takes: ['account_id', 'access_key_id', 'secret_access_key'], account: 'account_id' },
  oci: {
    needs: ['region', 'bucket'],
    takes: ['namespace', 'access_key_id', 'secret_access_key'],
    account: 'namespace',
  },
}

const ALL = new Set(Object.values(KEYS).flatMap(({ needs, takes }) => [...needs, ...takes]))

/** Checks required keys, keys of other providers and contradictions. */
export const lintObjectStore = (options: Options, { findings, originOf, isWritten }: LintContext): void => {
  const path = originOf(options)
  const { needs, takes } = KEYS[options.provider]
  for (const key of needs) {
    if (options[key] === undefined || options[key] === '') {
      findings.error(path, `provider ${options.provider} needs ${key}`, { expected: key })
    }
  }
  for (const key of ALL) {
    if (needs.includes(key) || takes.includes(key) || key === 'endpoint' || !isWritten([...path, key])) continue
    findings.error([...path, key], `${key} is not a key of provider ${options.provider}`, {
      at: 'key',
      expected: [...needs, ...takes].join(', '),
    })
  }
  if (options.provider === 'gcs' && isWritten([...path, 'max_retry_buffer_per_request'])) {
    const why = 'the parts of an upload to Google are of resumable_chunk_size'
    findings.warning([...path, 'max_retry_buffer_per_request'], `max_retry_buffer_per_request has no effect: ${why}`, {
      at: 'key',
    })
  }
  lintKeyPair(options, path, findings)
  lintAddress(options, path, findings)
  lintAccount(options, path, findings)
}

/** Checks account and address: a configured address takes precedence over the account. */
const lintAccount = (options: Options, path: readonly (string | number)[], findings: LintContext['findings']): void => {
  const { provider, sas_url: signed, endpoint } = options
  const { account: key } = KEYS[provider]
  if (key === undefined) return
  const account = options[key] ?? ''
  const given = signed === undefined ? 'endpoint' : 'sas_url'
  const address = options[given] ?? ''
  if (account === '' && address === '') {
    const expected = provider === 'azure' ? `${key}, sas_url or endpoint` : `${key}, or endpoint`
    findings.error(path, `provider ${provider} needs ${key}`, { expected })
  } else if (account !== '' && address !== '' && !namesAccount(address, account)) {
    findings.warning(
      [...path, key],
      `${key} has no effect: ${given} says where the service is, and not with this name`,
      {
        found: JSON.stringify(account),
        expected: `${key} as it stands in ${given}, or one of the two`,
      },
    )
  }
  if (signed === undefined || endpoint === undefined || endpoint === '') return
  findings.warning([...path, 'endpoint'], 'endpoint has no effect: sas_url says where the service is', {
    at: 'key',
    expected: 'one of the two',
  })
}

/** Whether the host or, as with emulators, the path names the account. */
const namesAccount = (address: string, account: string): boolean => {
  if (!URL.canParse(address)) return true
  const { hostname, pathname } = new URL(address)
  const name = account.toLowerCase()
  return [...hostname.split('.'), ...pathname.toLowerCase().split('/')].includes(name)
}

const lintKeyPair = (
  { access_key_id: id, secret_access_key: secret }: Options,
  path: readonly (string | number)[],
  findings: LintContext['findings'],
): void => {
  if ((id === undefined) === (secret === undefined)) return
  const [given, lacking] =
    id === undefined ? ['secret_access_key', 'access_key_id'] : ['access_key_id', 'secret_access_key']
  findings.error([...path, given], `${given} without ${lacking}`, { at: 'key', expected: 'both or none' })
}

/** Checks the address of the bucket behind the existence cache. */
export const lintOntapBackend = (
  { backend }: StoreOptions['ontap_s3_existence_cache'],
  { findings, originOf }: LintContext,
): void => lintAddress(backend, originOf(backend), findings)

const lintAddress = (
  options: Pick<Options, 'endpoint' | 'sas_url' | 'insecure_allow_http'>,
  path: readonly (string | number)[],
  findings: LintContext['findings'],
): void => {
  for (const key of ['endpoint', 'sas_url'] as const) {
    const address = options[key]
    // An empty one, as of a variable that is not set, counts as left out.
    if (address === undefined || (key === 'endpoint' && address === '')) continue
    const protocol = URL.canParse(address) ? new URL(address).protocol : undefined
    if (protocol === 'https:' || (protocol === 'http:' && options.insecure_allow_http)) continue
    findings.error([...path, key], `${key} is no address that is allowed here`, {
      // A signed URL is a secret.
      ...(key === 'endpoint' ? { found: JSON.stringify(address) } : {}),
      expected: protocol === 'http:' ? 'https://, or insecure_allow_http' : 'an address with https://',
    })
  }
}
