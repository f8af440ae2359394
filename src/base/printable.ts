const CONTROL_PICTURES = 0x2400
const PICTURE_OF_DELETE = '\u2421'
const UNPICTURED = '\ufffd'

/** A line of text that may be shown in a terminal: control characters other than tabs become visible ones, one for one. */
export const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
  line.replaceAll(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, (control) => {
    const code = control.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code)
    return code === 0x7f ? PICTURE_OF_DELETE : UNPICTURED
  })
