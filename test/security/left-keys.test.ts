import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import type { JwtIssuer } from '../../src/config/config.js'
import { readCredential } from '../../src/security/identity/credential.js'
import { JwtIssuers, RemoteKeys } from '../../src/security/identity/jwt.js'

t.test('a token that was accepted is refused once its key has left the keys at jwks_uri', async (t) => {
  let keys: JWK[] = []
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
  const key = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const sign = new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg: 'ES256', kid }).setIssuer('https://issuer')
    const token = await sign.setAudience('builds').setExpirationTime('1h').sign(privateKey)
    return { jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }, token }
  }
  const [first, second] = [await key('first'), await key('second')]
  const claims = { name_claim: 'sub', groups_claim: 'groups' }
  const issuer: JwtIssuer = { issuer: 'https://issuer', audiences: ['builds'], clock_skew_s: 60, ...claims }
  const remote = new RemoteKeys(uri)
  const issuers = new JwtIssuers([{ issuer, keys: () => remote.find }], new ManualClock(Date.now()))
  remote.onChange = () => issuers.verified.clear()
  const identify = async (token: string): Promise<string | undefined> => {
    try {
      return (await issuers.identify(readCredential(`Bearer ${token}`)))?.name
    } catch (error) {
      return StatusError.from(error).message
    }
  }
  keys = [first.jwk, second.jwk]
  t.equal(await identify(first.token), 'ann')
  keys = [{ ...second.jwk }]
  t.equal(await identify(first.token), 'ann', 'the server has not looked again')
  await remote.renew()
  t.match(await identify(first.token), /the bearer token is not accepted/)
  t.equal(await identify(second.token), 'ann')
  const { all } = issuers.verified
  await remote.renew()
  t.same(issuers.verified.all, all, 'the same keys change nothing')
})
