/** Linux limits in bytes: of one name (NAME_MAX), and of a whole path without the final NUL (PATH_MAX - 1). */
export const NAME_MAX_BYTES = 255
export const PATH_MAX_BYTES = 4095

/** Maximum number of UTF-8 bytes of a UTF-16 unit. */
export const UNIT_MAX_BYTES = 3

/** Whether a text has more bytes. Most texts are so short that counting is not necessary. */
export const isLongerThan = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * UNIT_MAX_BYTES > maxBytes && Buffer.byteLength(text) > maxBytes)
