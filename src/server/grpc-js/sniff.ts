import type { Socket } from 'node:net'
import { guardedTimeout } from '../../base/timers.js'

/** The first bytes of every HTTP/2 connection with prior knowledge (RFC 9113, 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/**
 * Detects the protocol of a connection by its first bytes, which remain readable. Anything but HTTP/2 is left to the
 * HTTP/1 parser. A connection that ends or sends too little within `timeoutMs` is destroyed.
 */
export const sniff = (socket: Socket, timeoutMs: number, detected: (protocol: 'http1' | 'http2') => void): void => {
  let head = Buffer.alloc(0)
  const timer = guardedTimeout(() => socket.destroy(), timeoutMs).unref()
  const giveUp = (): void => {
    clearTimeout(timer)
    socket.destroy()
  }
  const look = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) head = Buffer.concat([head, chunk])
    const seen = Math.min(head.length, PREFACE.length)
    const isHttp2 = head.subarray(0, seen).equals(PREFACE.subarray(0, seen))
    if (isHttp2 && seen < PREFACE.length) return
    clearTimeout(timer)
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', giveUp)
    socket.unshift(head)
    detected(isHttp2 ? 'http2' : 'http1')
  }
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('close', giveUp)
}
