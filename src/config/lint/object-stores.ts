import type { StoreOptions } from '../config.js'
import type { LintContext } from './context.js'

type Options = StoreOptions['experimental_cloud_object_store']
type Key = keyof Options

/** The keys of each provider, beside those that all of them have. */
const KEYS: Readonly<Record<Options['provider'], { readonly needs: readonly Key[]; readonly takes: readonly Key[] }>> =
  {
    aws: { needs: ['bucket'], takes: ['region'] },
    gcs: {
      needs: ['bucket'],
      takes: ['resumable_chunk_size', 'authentication_required', 'connection_timeout_s', 'read_timeout_s'],
    },
    azure: { needs: ['container'], takes: ['account_name', 'sas_url'] },
    ontap: { needs: ['endpoint', 'vserver_name', 'bucket'], takes: ['root_certificates'] },
    r2: { needs: ['account_id', 'bucket'], takes: ['access_key_id', 'secret_access_key'] },
    oci: { needs: ['namespace', 'region', 'bucket'], takes: ['access_key_id', 'secret_access_key'] },
  }

const ALL = new Set(Object.values(KEYS).flatMap(({ needs, takes }) => [...needs, ...takes]))

/** What a provider needs, and what only another one knows. */
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
    findings.error([...path, key], `${key} is nothing that provider ${options.provider} knows`, {
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
  if (options.provider === 'azure' && ['account_name', 'sas_url', 'endpoint'].every((key) => !options[key as Key])) {
    findings.error(path, 'the storage account is not named', { expected: 'account_name, sas_url or endpoint' })
  }
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

/** Where the store behind a list of its keys is. */
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
    if (address === undefined) continue
    const protocol = URL.canParse(address) ? new URL(address).protocol : undefined
    if (protocol === 'https:' || (protocol === 'http:' && options.insecure_allow_http)) continue
    findings.error([...path, key], `${key} is no address that is allowed here`, {
      // A signature is a secret.
      ...(key === 'endpoint' ? { found: JSON.stringify(address) } : {}),
      expected: protocol === 'http:' ? 'https://, or insecure_allow_http' : 'an address with https://',
    })
  }
}
