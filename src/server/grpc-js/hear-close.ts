import type { Socket } from 'node:net'

const EVERY_MS = 500

/**
 * Sees to it that an HTTP/2 connection hears of its end. One whose peer broke the protocol is told so with GOAWAY, and from
 * then on Node reads nothing from it: not even that the peer has closed or reset it, so that it would stay for ever. Asking
 * for a read again does no harm to any other. The handle is a private field: should it go away, nothing is asked.
 */
export const hearClose = (socket: Socket): void => {
  const timer = setInterval(() => {
    const handle: unknown = Reflect.get(socket, '_handle')
    if (canRead(handle)) handle.readStart()
  }, EVERY_MS).unref()
  socket.once('close', () => clearInterval(timer))
}

const canRead = (handle: unknown): handle is { readStart(): void } =>
  typeof handle === 'object' && handle !== null && 'readStart' in handle && typeof handle.readStart === 'function'
