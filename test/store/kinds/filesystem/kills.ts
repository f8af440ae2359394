import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, killWriter } from './kill.js'

/**
 * Kills writers of one store over and over, and looks after each for what the store had acknowledged:
 * `node --import tsx test/store/kinds/filesystem/kills.ts 100` for as many kills. The segments have kilobytes, so that the store
 * cleans and evicts all the time. Ends with 1 when anything was lost, torn or back, or when one of these did not happen.
 */
const count = Number(process.argv[2] ?? 20)
/** Number of kills per folder: a store has at most 1024 segments. */
const KILLS_EACH = 10

const variants = [
  { durability: 'process_exit', maxCount: 600, segmentBytes: 256 * 1024 },
  { durability: 'power_loss', maxCount: 600, segmentBytes: 256 * 1024 },
  { durability: 'process_exit', maxCount: 2000, segmentBytes: 512 * 1024 },
] as const

const bad = { lost: 0, torn: 0, stale: 0, forgotten: 0, tempFiles: 0 }
const must = {
  ...{ acknowledged: 0, evicted: 0, emptied: 0, copiedBlobs: 0, copiedRemovals: 0, replayedCopies: 0 },
  movedBlobs: 0,
}
let [kills, killsWithCopies, killsAmidCleaning] = [0, 0, 0]
// biome-ignore lint/plugin: ends with the number of kills; each kill has a limit
while (kills < count) {
  const variant = variants[Math.floor(kills / KILLS_EACH) % variants.length] ?? variants[0]
  const folder = await mkdtemp(join(tmpdir(), 'remexec-kills-'))
  const beganMs = Date.now()
  let from = 0
  for (let kill = 0; kill < KILLS_EACH && kills < count; kill++) {
    const options = {
      folder,
      from,
      beganMs,
      ...variant,
      // biome-ignore lint/plugin: kills at any moment
      blobs: 1000 + Math.floor(Math.random() * 1000),
      // biome-ignore lint/plugin: kills at any moment
      afterMs: Math.random() * 60,
    }
    const { written, emptied, copiedBlobs, copiedRemovals, movedBlobs, evicted } = await killWriter(options)
    const { replayedCopies, ...found } = await inspect(options, written)
    kills++
    if (replayedCopies > 0) killsWithCopies++
    if (emptied > 0) killsAmidCleaning++
    for (const key of Object.keys(bad) as (keyof typeof bad)[]) bad[key] += found[key]
    const copied = { copiedBlobs, copiedRemovals, movedBlobs, replayedCopies }
    const seen = { acknowledged: written - from, evicted, emptied, ...copied }
    for (const key of Object.keys(must) as (keyof typeof must)[]) must[key] += seen[key]
    from = written
  }
  await rm(folder, { recursive: true, force: true })
  process.stdout.write(`${JSON.stringify({ kills, killsAmidCleaning, killsWithCopies, ...must, ...bad })}\n`)
}
process.exitCode = Object.values(bad).some((value) => value > 0) || Object.values(must).includes(0) ? 1 : 0
