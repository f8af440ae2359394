import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { Code } from '../../src/base/status-error.js'
import { readCredential } from '../../src/security/identity/credential.js'
import { JwtIssuers } from '../../src/security/identity/jwt.js'

const NOW_S = 1_700_000_000
const SKEW_S = 30
const issuer = {
  issuer: 'https://idp.example',
  audiences: ['us'],
  name_claim: 'sub',
  groups_claim: 'groups',
  clock_skew_s: SKEW_S,
}

const { publicKey, privateKey } = await generateKeyPair('ES256')
const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k' }] })

const startIssuers = () => {
  const clock = new ManualClock(NOW_S * 1000)
  return { clock, issuers: new JwtIssuers([{ issuer, keys: () => keys }], clock) }
}

const tokenOf = async ({ fromS = NOW_S - 3600, untilS = NOW_S + 3600 }) => {
  const token = await new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(issuer.issuer)
    .setAudience('us')
    .setNotBefore(fromS)
    .setExpirationTime(untilS)
    .sign(privateKey)
  return readCredential(`Bearer ${token}`)
}

t.test('a token is accepted clock_skew_s longer than its lifetime, and as much earlier', async (t) => {
  const { issuers } = startIssuers()
  const ann = { name: 'ann' }
  t.match(await issuers.identify(await tokenOf({ untilS: NOW_S - SKEW_S + 1 })), ann)
  t.match(await issuers.identify(await tokenOf({ fromS: NOW_S + SKEW_S })), ann)
  const late = { code: Code.UNAUTHENTICATED, message: /"exp"/ }
  await t.rejects(async () => issuers.identify(await tokenOf({ untilS: NOW_S - SKEW_S })), late)
  const early = { code: Code.UNAUTHENTICATED, message: /"nbf"/ }
  await t.rejects(async () => issuers.identify(await tokenOf({ fromS: NOW_S + SKEW_S + 1 })), early)
})

t.test('a cached token is accepted no longer than that either', async (t) => {
  const { issuers, clock } = startIssuers()
  const credential = await tokenOf({ untilS: NOW_S + 10 })
  const identity = await issuers.identify(credential)
  clock.advance((10 + SKEW_S) * 1000 - 1)
  t.equal(await issuers.identify(credential), identity, 'it is not checked again')
  clock.advance(1)
  await t.rejects(async () => issuers.identify(credential), { message: /"exp"/ })
})
