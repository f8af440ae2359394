const RECORD_HEAD_BYTES = 5
const HANDSHAKE_RECORD = 22
const HANDSHAKE_HEAD_BYTES = 4
const CLIENT_HELLO = 1
const ALPN = 16
/** Version and random number. */
const BEFORE_SESSION_ID = 34

/**
 * The protocols that a TLS client offers (ALPN, RFC 7301), read from its first bytes, which are not encrypted (RFC 8446, 4.1.2 and 5.1).
 * Undefined while its hello is not complete; empty for a client that offers none, and for bytes that are no hello.
 */
export const offeredProtocols = (head: Buffer): readonly string[] | undefined => {
  const hello = helloIn(head)
  if (hello === undefined) return undefined
  try {
    return protocolsIn(hello)
  } catch (error) {
    // Whoever performs the handshake refuses it.
    if (error instanceof RangeError) return []
    throw error
  }
}

const NO_HELLO = Buffer.alloc(0)

/** The body of the hello, which may be in several records. */
const helloIn = (head: Buffer): Buffer | undefined => {
  if (head.length > 0 && head[0] !== HANDSHAKE_RECORD) return NO_HELLO
  const parts: Buffer[] = []
  for (let at = 0; at + RECORD_HEAD_BYTES <= head.length; ) {
    if (head[at] !== HANDSHAKE_RECORD) return NO_HELLO
    const begin = at + RECORD_HEAD_BYTES
    at = begin + head.readUInt16BE(at + 3)
    parts.push(head.subarray(begin, at))
  }
  const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  if (bytes.length > 0 && bytes[0] !== CLIENT_HELLO) return NO_HELLO
  if (bytes.length < HANDSHAKE_HEAD_BYTES) return undefined
  const end = HANDSHAKE_HEAD_BYTES + bytes.readUIntBE(1, 3)
  return bytes.length < end ? undefined : bytes.subarray(HANDSHAKE_HEAD_BYTES, end)
}

/** Throws a RangeError for a hello that ends too soon. */
const protocolsIn = (hello: Buffer): readonly string[] => {
  if (hello.length === 0) return []
  let at = BEFORE_SESSION_ID
  at += 1 + hello.readUInt8(at)
  const ciphersBytes = hello.readUInt16BE(at)
  at += 2 + ciphersBytes
  at += 1 + hello.readUInt8(at)
  // A hello may end here.
  if (at === hello.length) return []
  const end = at + 2 + hello.readUInt16BE(at)
  for (at += 2; at < end; ) {
    const type = hello.readUInt16BE(at)
    const sizeBytes = hello.readUInt16BE(at + 2)
    at += 4
    if (type === ALPN) return namesIn(hello.subarray(at, at + sizeBytes))
    at += sizeBytes
  }
  return []
}

const namesIn = (list: Buffer): readonly string[] => {
  const names: string[] = []
  const end = 2 + list.readUInt16BE(0)
  for (let at = 2; at < end; ) {
    const sizeBytes = list.readUInt8(at)
    at += 1
    names.push(list.toString('latin1', at, at + sizeBytes))
    at += sizeBytes
  }
  return names
}
