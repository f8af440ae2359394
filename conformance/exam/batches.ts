/** The bytes that one digest adds to a message besides its blob, and the bytes of the message without entries. */
const [ENTRY_BYTES, REST_BYTES, MOST_ENTRIES] = [100, 4_096, 1_000]

/**
 * Groups the blobs of at most `batchableBytes`, in order, into batches. A batch holds at most 1,000 blobs and about
 * twice `batchableBytes` as a BatchUpdateBlobs message. Larger blobs are left out.
 */
export const batchesOf = (blobs: readonly Uint8Array[], batchableBytes: number): Uint8Array[][] => {
  const batches: Uint8Array[][] = []
  let room = 0
  for (const data of blobs) {
    if (data.length > batchableBytes) continue
    room -= data.length + ENTRY_BYTES
    const last = batches.at(-1)
    if (last !== undefined && room >= 0 && last.length < MOST_ENTRIES) last.push(data)
    else {
      batches.push([data])
      room = batchableBytes * 2 - REST_BYTES - data.length
    }
  }
  return batches
}
