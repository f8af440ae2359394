import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, killWriter } from './kill.js'

/**
 * Kills writers of one store over and over, and looks after each for what they were told was written:
 * `node --import tsx test/store/filesystem/kills.ts 100` for as many kills. Ends with 1 when anything was lost or torn.
 */
const count = Number(process.argv[2] ?? 20)
let [lost, torn, tempFiles, acknowledged] = [0, 0, 0, 0]
const variants = [
  { durability: 'process_exit', maxCount: 0 },
  { durability: 'power_loss', maxCount: 0 },
  { durability: 'process_exit', maxCount: 2000 },
] as const
for (const variant of variants) {
  const folder = await mkdtemp(join(tmpdir(), 'remexec-kills-'))
  let from = 0
  for (let kill = 0; kill < count / variants.length; kill++) {
    const options = { folder, from, ...variant, blobs: Math.floor(Math.random() * 2000), afterMs: Math.random() * 60 }
    const written = await killWriter(options)
    const found = await inspect(options, written)
    acknowledged += written - from
    lost += found.lost
    torn += found.torn
    tempFiles += found.tempFiles
    from = written + 100
  }
  await rm(folder, { recursive: true, force: true })
}
process.stdout.write(`${JSON.stringify({ kills: count, acknowledged, lost, torn, tempFiles })}\n`)
process.exitCode = lost + torn + tempFiles > 0 ? 1 : 0
