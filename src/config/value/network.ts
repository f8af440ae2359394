import { isIP } from 'node:net'

/** Throws a RangeError unless `text` is an IP address, or one with the length of a prefix: `10.0.0.0/8`. */
export const checkNetwork = (text: string): void => {
  const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version !== 0 && Number(prefix) <= (version === 4 ? 32 : 128)) return
  throw new RangeError('no address or network')
}
