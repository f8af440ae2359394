import type { Readable } from 'node:stream'

/** A child that writes more is not heard any more until it is started again: what it wrote first says why it failed. */
const MAX_BYTES = 256 * 1024
/** A longer line is passed on in parts. */
const MAX_LINE = 8 * 1024

/**
 * Reads what a child writes to a pipe of its own, and passes whole lines on. A child that had the descriptor of this process would clear its
 * O_NONBLOCK, after which writes of this process to a full pipe block. A child that could not be started for want of a descriptor has no pipe.
 */
export const forwardLines = (from: Readable | null | undefined, forward: (text: string) => void): void => {
  if (!from) return
  let leftBytes = MAX_BYTES
  let text = ''
  const pass = (length: number): void => {
    if (text.slice(0, length).trim() !== '') forward(text.slice(0, length).trimEnd())
    text = text.slice(length)
  }
  from.setEncoding('utf8')
  from.on('data', (more: string) => {
    if (leftBytes <= 0) return
    leftBytes -= more.length
    text += more
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) pass(end)
    if (text.length > MAX_LINE) pass(text.length)
  })
  from.on('end', () => pass(text.length))
  from.on('error', () => {})
}
