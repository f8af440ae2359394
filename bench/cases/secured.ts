import type { RateCase } from '../case.js'
import { MIB } from '../content.js'
import { mutualTlsTokenCache, openCache, TOKEN, tlsCache, tokenCache } from '../server/config.js'
import type { Server } from '../server/process.js'
import { actionResult, findMissing, reading, writing } from './cache-work.js'

/** A server that checks no credentials serves these callers too. */
const withToken = (server: Server): Server =>
  Object.create(server, { headers: { value: { authorization: `Bearer ${TOKEN}` } } }) as Server

/** The same clients for all four servers, because h2load cannot send a certificate. */
const HERE = { isHere: true }
const LARGE = { name: '1 MiB', bytes: MIB }

const works = () => [findMissing(HERE), actionResult(HERE), reading(LARGE, HERE), writing(LARGE, HERE)]

/** The cost of TLS, tokens and certificates: the same work at four servers in the same rounds. */
export const securedCases = (): readonly RateCase[] =>
  works().map(({ name, unit, requests, setUp, run }): RateCase => {
    const drive = (server: Server, count: number) => run(withToken(server), count)
    const beside = { usesBare: true, run: drive }
    return {
      kind: 'rate',
      name: `${name}, mutual TLS and a token`,
      unit,
      unitsPerRequest: 1,
      requests,
      configure: mutualTlsTokenCache,
      setUp: (server) => setUp(withToken(server)),
      run: drive,
      limits: [
        { ...beside, name: 'TLS alone', configure: tlsCache },
        { ...beside, name: 'a token alone', configure: tokenCache },
        { ...beside, name: 'neither', configure: openCache },
      ],
    }
  })
