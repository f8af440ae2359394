import { createCipheriv } from 'node:crypto'

const drawn = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'remexec'), Buffer.alloc(16))

/**
 * Bytes that do not compress, no two alike, and the same in each run. A test that assumes something about them (no hash begins with 00)
 * then fails always or never, not by luck.
 */
export const drawnBytes = (sizeBytes: number): Buffer => drawn.update(Buffer.alloc(sizeBytes))
