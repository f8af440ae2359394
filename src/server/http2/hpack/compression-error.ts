/** A header block that violates RFC 7541. No later block of the connection can be decoded. */
export class CompressionError extends Error {
  override readonly name = 'CompressionError'
}
