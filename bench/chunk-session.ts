/**
 * What chunks save in a session of 30 builds: node --import tsx bench/chunk-session.ts [BUILDS [FILES]]
 *
 * Needs g++. Makes a program of 64 MiB with debug information, and links it again after each change of one of its
 * files. Each program is cut as a client cuts it; a chunk counts as moved and kept once. Prints the bytes of whole
 * programs beside those of new chunks, for both chunking functions, and for the same programs as tar archives packed by
 * gzip, which share nothing.
 *
 * Then the same programs go through two servers, one that keeps them whole for a client that sends them whole, and one that
 * keeps chunks for a client that cuts: each is uploaded and then downloaded by another machine, which has what it downloaded
 * before. Prints the bytes of messages in both directions, and those on disk. A third, of chunks too, gets whole programs.
 */
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Chunking } from '../src/reapi/chunking.js'
import { chunkSizesOf, FastCdc } from '../src/reapi/fast-cdc.js'
import { RepMaxCdc } from '../src/reapi/rep-max-cdc.js'
import { ChunkClient } from './chunk-client.js'
import { digestOf } from './content.js'
import { chunkedCache, filesystemCache } from './server/config.js'
import { type ServerProcess, startRemexec } from './server/process.js'

const BUILDS = Number(process.argv[2] ?? 30)
/** Of the program, 1.6 MiB each. */
const FILES = Number(process.argv[3] ?? 41)
const FUNCTIONS = 75
const DATA_BYTES = 350 * 1024
const MIB = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'remexec-chunks-'))
const at = (name: string): string => join(folder, name)

/** Each function has code, strings and types for the debugger. `change` adds some of each. */
const sourceOf = (file: number, change: number): string => {
  const functions = Array.from({ length: FUNCTIONS }, (_, number) => {
    const name = `${file}_${number}`
    return `struct S${name} { int a; double b[${(number % 7) + 1}]; std::map<int, std::string> c; };
int f${name}(int x) { S${name} s{x, {}, {}}; for (int i = 0; i < x; i++) s.c[i] = "${name} " + std::to_string(i * ${file + 3}); return s.c.size() + ${number === 7 ? change : number}; }`
  })
  const more = Array.from(
    { length: change },
    (_, number) => `int g${file}_${number}(int x) { return x * ${number + change}; }`,
  )
  const data = `asm(".section .rodata\\n.global d${file}\\nd${file}: .incbin \\"${at(`data${file}`)}\\"\\n.text");`
  return ['#include <map>', '#include <string>', data, ...functions, ...more].join('\n')
}

const compile = (file: number, change: number): void => {
  writeFileSync(at(`f${file}.cc`), sourceOf(file, change))
  execFileSync('g++', ['-g', '-O1', '-c', at(`f${file}.cc`), '-o', at(`f${file}.o`)])
}

const link = (): Buffer => {
  const objects = Array.from({ length: FILES }, (_, file) => at(`f${file}.o`))
  execFileSync('g++', ['-g', '-o', at('program'), at('main.o'), ...objects])
  return readFileSync(at('program'))
}

/** Counts bytes of chunks that were not there before. */
class Counted {
  readonly #chunking: Chunking
  readonly #known = new Set<string>()
  bytes = 0
  newBytes = 0

  constructor(chunking: Chunking) {
    this.#chunking = chunking
  }

  add(content: Buffer): void {
    const cutter = this.#chunking.cutter()
    this.bytes += content.length
    for (let from = 0; from < content.length; ) {
      const end = cutter.cut(content, from, content.length, true)
      const key = createHash('sha256').update(content.subarray(from, end)).digest('hex')
      if (!this.#known.has(key)) this.newBytes += end - from
      this.#known.add(key)
      from = end
    }
  }
}

const fastCdc = (): Chunking => new FastCdc(chunkSizesOf(512 * 1024))
const sets = {
  'FAST_CDC_2020, 512 KiB': new Counted(fastCdc()),
  'REP_MAX_CDC, 256 KiB': new Counted(new RepMaxCdc({ minBytes: 256 * 1024, horizonBytes: 2 * MIB })),
}
const packed = new Counted(fastCdc())

/** A client and its server, whose folder is counted at the end. */
class Side {
  readonly #name: string
  readonly #client: ChunkClient
  readonly #reader: ChunkClient
  readonly #server: ServerProcess
  readonly #dataPath: string

  private constructor(name: string, server: ServerProcess, dataPath: string, chunking: Chunking | undefined) {
    this.#name = name
    this.#server = server
    this.#dataPath = dataPath
    this.#client = new ChunkClient(server, chunking)
    this.#reader = new ChunkClient(server, chunking)
  }

  static async start(name: string, configOf: (path: string) => object, chunking: Chunking | undefined): Promise<Side> {
    let dataPath = ''
    const configure = (path: string): object => {
      dataPath = path
      return configOf(path)
    }
    return new Side(name, await startRemexec(configure, {}), dataPath, chunking)
  }

  async build(program: Buffer): Promise<void> {
    await this.#client.upload(program)
    if (!(await this.#reader.download(digestOf(program))).equals(program)) throw new Error(`${this.#name}: other bytes`)
  }

  async end(): Promise<void> {
    const keptBytes = readdirSync(this.#dataPath, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0)
    const figures = { uploaded: this.#client.uploadedBytes, downloaded: this.#reader.downloadedBytes, kept: keptBytes }
    const words = Object.entries(figures).map(([what, bytes]) => `${what} ${(bytes / MIB).toFixed(1)} MiB`)
    process.stdout.write(`${this.#name}: ${words.join(', ')}\n`)
    await this.#server.stop()
  }
}

const sides = [
  await Side.start('whole, kept whole', filesystemCache, undefined),
  await Side.start('in chunks, kept as chunks', chunkedCache, fastCdc()),
  await Side.start('whole, kept as chunks', chunkedCache, undefined),
]

try {
  for (let file = 0; file < FILES; file++) {
    writeFileSync(at(`data${file}`), randomBytes(DATA_BYTES))
    compile(file, 0)
  }
  const calls = Array.from({ length: FILES }, (_, file) => `int f${file}_0(int);`).join('\n')
  const sum = Array.from({ length: FILES }, (_, file) => `f${file}_0(n)`).join(' + ')
  writeFileSync(at('main.cc'), `${calls}\nint main(int n, char**) { return (${sum}) == 1; }`)
  execFileSync('g++', ['-g', '-c', at('main.cc'), '-o', at('main.o')])
  for (let build = 0; build < BUILDS; build++) {
    if (build > 0) compile((build * 7) % FILES, build)
    const program = link()
    for (const set of Object.values(sets)) set.add(program)
    for (const side of sides) await side.build(program)
    if (build < 3) packed.add(gzipSync(program, { level: 1 }))
    if (build === 0) process.stdout.write(`a program of ${(program.length / MIB).toFixed(1)} MiB, ${BUILDS} builds\n`)
  }
  for (const [name, { bytes, newBytes }] of Object.entries({ ...sets, 'three of them packed by gzip': packed })) {
    const [whole, chunks] = [bytes, newBytes].map((count) => `${(count / MIB).toFixed(1)} MiB`)
    process.stdout.write(
      `${name}: ${whole} whole, ${chunks} in new chunks, ${(100 - (100 * newBytes) / bytes).toFixed(1)} % less\n`,
    )
  }
  for (const side of sides) await side.end()
} finally {
  rmSync(folder, { recursive: true })
}
