/** What ccache tells a storage helper that it starts, in environment variables. */
export interface StartedByCcache {
  /** Exit after so long without a request; 0: never. */
  readonly idleTimeoutMs: number
  /** `grpc://HOST:PORT` or `grpcs://HOST:PORT`. */
  readonly address: string
  /** The path of the URL. */
  readonly instanceName: string
  /** The custom attributes (`@NAME=VALUE`), in order. */
  readonly attributes: readonly (readonly [name: string, value: string])[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Throws a RangeError if the variables make no sense. */
export const startedByCcache = (env: Environment): StartedByCcache => {
  const attributes = Array.from({ length: numberIn(env, 'CRSH_NUM_ATTR') }, (_, at) => {
    const [name, value] = [env[`CRSH_ATTR_KEY_${at}`], env[`CRSH_ATTR_VALUE_${at}`]]
    if (name === undefined || value === undefined) throw new RangeError(`CRSH_ATTR_KEY_${at} or its value is missing`)
    return [name, value] as const
  })
  return { idleTimeoutMs: numberIn(env, 'CRSH_IDLE_TIMEOUT') * 1000, ...partsOf(env['CRSH_URL'] ?? ''), attributes }
}

const numberIn = (env: Environment, name: string): number => {
  const text = env[name] ?? '0'
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new RangeError(`${name} is ${JSON.stringify(text)}, expected a number`)
}

const partsOf = (text: string): { readonly address: string; readonly instanceName: string } => {
  const url = URL.parse(text)
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isPlain || !/^grpcs?:$/.test(url.protocol) || url.host === '')
    throw new RangeError(`expected a storage of the form grpc://HOST:PORT/INSTANCE or grpcs://HOST:PORT/INSTANCE`)
  return { address: `${url.protocol}//${url.host}`, instanceName: decodeURIComponent(url.pathname.replace(/^\//, '')) }
}
