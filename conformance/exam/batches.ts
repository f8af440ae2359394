/** What one digest adds to a message beside its blob, and what the message holds beside the entries. */
const [ENTRY_BYTES, REST_BYTES, MOST_ENTRIES] = [100, 4_096, 1_000]

/**
 * The blobs of at most `batchableBytes`, in order, in batches of at most 1,000 blobs and of about twice `batchableBytes` as a
 * BatchUpdateBlobs message. Larger ones are left out.
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
