/** An entry of an archive as it is, however hostile. */
export interface TarEntry {
  readonly path: string
  readonly type?: 'file' | 'directory' | 'symlink' | 'link' | 'character' | 'fifo'
  readonly content?: Buffer | string
  readonly target?: string
  readonly mode?: number
}

const TYPES = { file: '0', link: '1', symlink: '2', character: '3', directory: '5', fifo: '6' }
const BLOCK = 512

/** An archive of ustar with exactly these entries. */
export const tarOf = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.flatMap(entryOf), Buffer.alloc(2 * BLOCK)])

const entryOf = ({ path, type = 'file', content = '', target = '', mode }: TarEntry): Buffer[] => {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  }
  header.write(path, 0, 100)
  octal(mode ?? (type === 'directory' ? 0o755 : 0o644), 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(bytes.length, 124, 12)
  octal(0, 136, 12)
  header.write(' '.repeat(8), 148)
  header.write(TYPES[type], 156)
  header.write(target, 157, 100)
  header.write('ustar\x0000', 257, 'latin1')
  octal(type === 'character' ? 1 : 0, 329, 8)
  octal(type === 'character' ? 3 : 0, 337, 8)
  let sum = 0
  for (const byte of header) sum += byte
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return [header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]
}
