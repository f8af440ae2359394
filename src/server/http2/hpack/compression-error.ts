/** A header block that breaks RFC 7541: what follows on the connection cannot be understood any more. */
export class CompressionError extends Error {
  override readonly name = 'CompressionError'
}
