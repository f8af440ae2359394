/** What file systems of Linux take for one name (NAME_MAX), and its system calls for a whole path (PATH_MAX less the end). */
export const NAME_MAX_BYTES = 255
export const PATH_MAX_BYTES = 4095

/** The bytes of UTF-8 in a UTF-16 unit, at most. */
const UNIT_MAX_BYTES = 3

/** Whether a text takes more bytes; most are so short that nobody has to count. */
export const isLongerThan = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * UNIT_MAX_BYTES > maxBytes && Buffer.byteLength(text) > maxBytes)
