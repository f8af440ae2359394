import { StatusError } from '../../base/status-error.js'
import type { RedisArgument, RedisConnections, RedisReply } from '../../store/kinds/redis_store/connections.js'
import type { Campaign, Candidate, Decision, Engine } from './engine.js'

export interface RedisEngineOptions {
  readonly connections: RedisConnections
  /** For messages. */
  readonly name: string
  readonly keyPrefix: string
  /** Servers with the same name and prefix have one queue. */
  readonly schedulerName: string
  readonly failureOf: (thrown: unknown) => StatusError
}

/**
 * One round of a candidate, in one step of the engine. The lease is `EPOCH CANDIDATE`, where CANDIDATE is JSON. A member is its id
 * and the time by the engine's clock until which it counts. A lease of a term below the highest that the caller has heard of, which
 * a Redis that lost its counter may give, is void.
 */
const CAMPAIGN = `
local lease, counter, members, secrets = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, candidate, highest, leaseMs, mayLead, secret = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', members, id, now + leaseMs)
redis.call('PEXPIRE', members, leaseMs * 10)
local alive = {}
local all = redis.call('HGETALL', members)
for at = 1, #all, 2 do
  if tonumber(all[at + 1]) < now then redis.call('HDEL', members, all[at]) else alive[#alive + 1] = all[at] end
end
redis.call('SET', secrets, secret, 'NX')
local held = redis.call('GET', lease)
local holder, epoch
if held then
  epoch, holder = string.match(held, '^(%d+) (.*)$')
  local isOwn = holder and cjson.decode(holder).id == id
  if isOwn and mayLead ~= '1' then redis.call('DEL', lease)
  elseif holder and tonumber(epoch) < highest then held = false
  elseif isOwn then redis.call('SET', lease, epoch .. ' ' .. candidate, 'PX', leaseMs) end
end
if not held and mayLead == '1' then
  epoch = string.format('%.0f', math.max(tonumber(redis.call('GET', counter) or '0'), highest) + 1)
  redis.call('SET', counter, epoch)
  redis.call('SET', lease, epoch .. ' ' .. candidate, 'PX', leaseMs)
end
return { redis.call('GET', lease) or '', redis.call('GET', secrets), unpack(alive) }`

const RESIGN = `
local held = redis.call('GET', KEYS[1])
redis.call('HDEL', KEYS[2], ARGV[1])
if held and cjson.decode(string.match(held, '^%d+ (.*)$')).id == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`

/** Who leads, by Redis or Valkey. The keys have one hash tag, so that they lie on one node of a cluster. */
export class RedisEngine implements Engine {
  readonly name: string
  readonly #options: RedisEngineOptions

  constructor(options: RedisEngineOptions) {
    this.name = options.name
    this.#options = options
  }

  async campaign(
    { candidate, highestEpoch, secret, leaseMs, mayLead }: Campaign,
    signal: AbortSignal,
  ): Promise<Decision> {
    const keys = ['lease', 'epoch', 'members', 'secret'].map((part) => this.#key(part))
    const rest = [candidate.id, JSON.stringify(candidate), highestEpoch, leaseMs, mayLead ? 1 : 0, secret]
    const reply = await this.#send(['EVAL', CAMPAIGN, String(keys.length), ...keys, ...rest.map(String)], signal)
    if (!Array.isArray(reply)) throw this.#odd('campaign', reply)
    const [lease = '', knownSecret = '', ...memberIds] = reply.map(String)
    return { term: lease === '' ? undefined : this.#termOf(lease), secret: knownSecret, memberIds }
  }

  async resign(candidateId: string, signal: AbortSignal): Promise<void> {
    await this.#send(['EVAL', RESIGN, '2', this.#key('lease'), this.#key('members'), candidateId], signal)
  }

  async warning(signal: AbortSignal): Promise<string | undefined> {
    const told = String(await this.#send(['INFO', 'memory'], signal))
    const policy = /^maxmemory_policy:(\S*)/m.exec(told)?.[1] ?? ''
    if (!policy.startsWith('allkeys-')) return undefined
    return `its maxmemory-policy is ${policy}, so it may evict the lease, and each time another leader is elected: expected noeviction, or one of volatile-*`
  }

  close(): Promise<void> {
    return this.#options.connections.close()
  }

  #key(part: string): string {
    const { keyPrefix, schedulerName } = this.#options
    return `${keyPrefix}remexec:{${schedulerName}}:${part}`
  }

  async #send(args: RedisArgument[], signal: AbortSignal): Promise<RedisReply> {
    try {
      return await this.#options.connections.send(this.#key('lease'), args, signal)
    } catch (error) {
      throw this.#options.failureOf(error)
    }
  }

  #termOf(lease: string): Decision['term'] {
    const [, epoch, leader] = /^(\d+) (.*)$/s.exec(lease) ?? []
    if (epoch === undefined || leader === undefined) throw this.#odd('lease', lease)
    return { epoch: Number(epoch), leader: JSON.parse(leader) as Candidate }
  }

  #odd(what: string, found: unknown): StatusError {
    return new StatusError('INTERNAL', `${this.name}: the ${what} is ${JSON.stringify(found)}, which no server wrote`)
  }
}
