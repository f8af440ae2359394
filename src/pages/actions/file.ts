import { WHOLE } from '../../stream/path.js'
import type { Page } from '../page.js'
import { addressesOf, blobIn } from './address.js'
import { type StoresOf, storesFor } from './stores.js'

/**
 * The bytes of a file: as a download, or with `?show=text` as plain text. Never as anything that a browser runs, because
 * actions of strangers wrote it.
 */
export const filePage = ({ storesOf }: { readonly storesOf: StoresOf }): Page => ({
  address: addressesOf('file'),
  show: async (visit) => {
    const { instance, digest } = blobIn(visit)
    const { cas } = storesFor(visit, instance, storesOf)
    const body = await cas.get(digest, WHOLE, visit.request)
    const name = visit.named['rest']?.split('/').at(-1) ?? ''
    const isText = visit.query.get('show') === 'text'
    return { status: 200, headers: isText ? TEXT : downloadHeaders(name === '' ? digest.hash : name), body }
  },
})

const SAFE = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
}
const TEXT = { ...SAFE, 'content-type': 'text/plain; charset=utf-8' }

/** A download with a name of any characters (RFC 6266, RFC 8187). */
export const downloadHeaders = (name: string, type = 'application/octet-stream'): Readonly<Record<string, string>> => {
  const encoded = encodeURIComponent([...name].slice(0, 200).join('')).replace(/['()*]/g, percent)
  return { ...SAFE, 'content-type': type, 'content-disposition': `attachment; filename*=UTF-8''${encoded}` }
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
