import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Issued {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: Buffer
  readonly key: Buffer
}

export interface Wishes {
  /** Default `/CN=localhost`. */
  readonly subject?: string
  /** In OpenSSL's syntax. Default: localhost. */
  readonly alternativeNames?: string
  /** Days until it expires; negative: it has expired. Default 2. */
  readonly days?: number
}

const CONFIG = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
crlnumber = crlnumber
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_days = 2
default_crl_days = 2
policy = any
unique_subject = no
[any]
commonName = optional
organizationName = optional
organizationalUnitName = optional
[req]
distinguished_name = empty
[empty]
`

/** A certificate authority for one test: openssl in a folder. */
export class Authority {
  readonly #folder: string
  readonly caFile: string
  #count = 0

  constructor(folder: string) {
    this.#folder = folder
    this.caFile = join(folder, 'ca.pem')
    mkdirSync(folder, { recursive: true })
    for (const [name, content] of [
      ['openssl.cnf', CONFIG],
      ['index.txt', ''],
      ['serial', '1000\n'],
      ['crlnumber', '01\n'],
    ] as const) {
      writeFileSync(join(folder, name), content)
    }
    const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=keyCertSign,cRLSign']
    const subject = ['-subj', '/CN=an authority of a test', '-days', '2']
    this.#openssl(['req', '-x509', ...pair('ca.key'), ...subject, ...extensions, '-out', 'ca.pem'])
  }

  get ca(): Buffer {
    return readFileSync(this.caFile)
  }

  issue(name: string, { subject = '/CN=localhost', alternativeNames = LOCALHOST, days = 2 }: Wishes = {}): Issued {
    const own = `${name}-${this.#count++}`
    this.#openssl(['req', '-new', ...pair(`${own}.key`), '-subj', subject, '-out', `${own}.csr`])
    writeFileSync(join(this.#folder, `${own}.ext`), `subjectAltName=${alternativeNames}\n`)
    const [startMs, endMs] = [Date.now() - 10 * DAY_MS, Date.now() + days * DAY_MS]
    const times = ['-startdate', opensslTime(startMs), '-enddate', opensslTime(endMs)]
    const files = ['-extfile', `${own}.ext`, '-in', `${own}.csr`, '-out', `${own}.pem`]
    this.#openssl(['ca', '-batch', '-notext', ...times, ...files])
    const [certFile, keyFile] = [join(this.#folder, `${own}.pem`), join(this.#folder, `${own}.key`)]
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) }
  }

  revoke({ certFile }: Issued): void {
    this.#openssl(['ca', '-revoke', certFile])
  }

  /** Writes the revocation list. */
  writeRevocationList(path: string): void {
    this.#openssl(['ca', '-gencrl', '-out', path])
  }

  #openssl(args: readonly string[]): void {
    const [command = '', ...rest] = args
    execFileSync('openssl', [command, '-config', 'openssl.cnf', ...rest], { cwd: this.#folder, stdio: 'pipe' })
  }
}

const LOCALHOST = 'DNS:localhost,IP:127.0.0.1'
const DAY_MS = 24 * 3600 * 1000

const pair = (keyOut: string): readonly string[] => [
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:prime256v1',
  '-nodes',
  '-keyout',
  keyOut,
]

/** 20260102030405Z */
const opensslTime = (ms: number): string => `${new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`
