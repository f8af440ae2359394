import { StatusError } from '../../base/status-error.js'
import { Addresses } from '../../download/addresses.js'
import type { ImageReference } from './reference.js'

export interface RegistriesOptions {
  /** `host`, `host/path`, or `http://host…` for one without TLS. Empty: every registry with a public address. */
  readonly registries: readonly string[]
  /** Addresses and networks besides public ones, for registries that are not listed. */
  readonly allowAddresses: readonly string[]
}

interface Listed {
  readonly registry: string
  /** Empty, or a path with a slash at its end. */
  readonly path: string
  readonly isPlain: boolean
}

/** Where images of Docker's own registry really come from. */
const ADDRESS_OF: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

/** The registries that a worker may fetch images from. */
export class Registries {
  readonly #listed: readonly Listed[]
  readonly #addresses: Addresses

  constructor({ registries, allowAddresses }: RegistriesOptions) {
    this.#listed = registries.map(listed)
    this.#addresses = new Addresses(allowAddresses)
  }

  /** Whether only listed registries are used: an operator named them, whatever their addresses. */
  get areListed(): boolean {
    return this.#listed.length > 0
  }

  get addresses(): Addresses {
    return this.#addresses
  }

  /** FAILED_PRECONDITION, so that the client gets it, if images may not come from there. Returns how the registry is reached. */
  async check({ registry, repository }: ImageReference): Promise<{ readonly isPlain: boolean }> {
    const entry = this.#listed.find((one) => one.registry === registry && `${repository}/`.startsWith(one.path))
    if (entry !== undefined) return entry
    if (this.areListed) {
      const names = this.#listed.map((one) => `${one.registry}/${one.path}`.replace(/\/$/, '')).join(', ')
      throw new StatusError(
        'FAILED_PRECONDITION',
        `images of ${registry}/${repository} are not allowed here: expected one of ${names} (registries in container_images of the worker)`,
      )
    }
    try {
      const { hostname } = new URL(`https://${ADDRESS_OF[registry] ?? registry}`)
      this.#addresses.checkLiteral(hostname)
      await this.#addresses.checkName(hostname)
    } catch (cause) {
      const advice = 'an operator can list it in registries of container_images of the worker'
      throw new StatusError(
        'FAILED_PRECONDITION',
        `images of ${registry} are not allowed here: it has no public address; ${advice}`,
        { cause },
      )
    }
    return { isPlain: false }
  }
}

const listed = (text: string): Listed => {
  const isPlain = text.startsWith('http://')
  const plain = text.replace(/^https?:\/\//, '').replace(/\/+$/, '')
  const slash = plain.indexOf('/')
  if (slash < 0) return { registry: plain, path: '', isPlain }
  return { registry: plain.slice(0, slash), path: `${plain.slice(slash + 1)}/`, isPlain }
}
