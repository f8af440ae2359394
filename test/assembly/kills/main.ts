/**
 * Kills a server over and over that has an instance over each kind of store that lasts, caches of build tools, assets and build events,
 * under a mixed load and with limits so small that it evicts all the time: `npm run ts -- test/assembly/kills/main.ts 300` for as many
 * kills. After each start it reads what was acknowledged. Ends with 1 if anything was lost, or has other bytes, if an older value
 * came back, if files were left over, if an upload failed before the kill, or if a kind of upload did not happen; with a hundred kills
 * or more also if a store evicted nothing.
 */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestClient } from '../../server/client.js'
import { Events } from './events.js'
import { AcknowledgedUploads, FAULTS, nothingSeen, type Seen } from './ledger.js'
import { REMOTES, type Remote } from './remotes.js'
import { KilledServer } from './server.js'
import { ONLY_IN, type Target, UPLOADS, type UploadName } from './uploads.js'
import { configOf, eachFolder, type World, worldsOf } from './worlds.js'

const count = Number(process.argv[2] ?? 10)
const LANES = 6
const EVENT_LANES = 2
/** Uploads before a kill. */
const UPLOADS_MIN = 20
const UPLOADS_MORE = 100
/** So many fill every store. */
const MANY = 100
/** Each tenth kill comes before the server serves. */
const EARLY = 10
/** What the files of a store may have beyond its `max_bytes`: what is not reclaimed yet. */
const SLACK = { share: 1.5, bytes: 4 * 1024 * 1024 }

const closing: (() => unknown)[] = []
const remotes = new Map<string, Remote>()
for (const [name, { missing, start }] of Object.entries(REMOTES)) {
  if (missing === false) remotes.set(name, await start({ teardown: (stop) => void closing.push(stop) }))
  else process.stdout.write(`without ${name}: ${missing}\n`)
}
const folder = await mkdtemp(join(tmpdir(), 'remexec-kills-'))
closing.push(() => rm(folder, { recursive: true, force: true }))

const worlds = worldsOf(remotes)
const uploads = new Map(worlds.map((world) => [world, new AcknowledgedUploads(world)]))
const seen = new Map<World, Seen>(worlds.map((world) => [world, nothingSeen()]))
const events = new Events()
const acknowledged = new Map<string, number>()
const bad = { lostEvents: 0, wrongEvents: 0, overfull: 0, failedUploads: 0 }
const complaints = new Map<string, number>()
let [removedLogs, kills] = [0, 0]

const tell = (text: string): void => void process.stderr.write(`kill ${kills}: ${text}\n`)
const counted = (name: string): void => void acknowledged.set(name, (acknowledged.get(name) ?? 0) + 1)

const NAMES = Object.keys(UPLOADS) as UploadName[]
/** Each upload in each of its instances, one after the other. */
const turns = worlds.flatMap((world) =>
  NAMES.filter((name) => (ONLY_IN[name] ?? world.name) === world.name).map((name) => ({ name, world })),
)

/** Uploads until the server is killed; `more` is called for each. */
const load = async (target: Target, lane: number, isKilled: () => boolean, more: () => void): Promise<void> => {
  let what = ''
  try {
    for (let turn = lane * 17 + kills * 5; !isKilled(); turn++) {
      const { name, world } = turns[turn % turns.length] as (typeof turns)[number]
      const own = uploads.get(world)
      what = `${name} in ${world.name}`
      own?.add(await UPLOADS[name](target, world, lane))
      counted(name)
      const older = turn % 5 === 0 ? own?.takeOlder() : undefined
      if (older !== undefined) {
        what = `again in ${world.name}`
        await older.again?.(target)
        own?.add([older])
        counted('again')
      }
      more()
    }
  } catch (error) {
    if (isKilled()) return
    bad.failedUploads += 1
    tell(`${what} fails before the kill: ${error}`)
    more()
  }
}

const publish = async (target: Target, lane: number, isKilled: () => boolean): Promise<void> => {
  try {
    for (let builds = 0; !isKilled() && builds < 100; builds++) await events.publish(target.client, lane)
  } catch (error) {
    if (isKilled()) return
    bad.failedUploads += 1
    tell(`a build fails before the kill: ${error}`)
  }
}

const sizeOf = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const checkFolders = async (config: object): Promise<void> => {
  for (const { path, maxBytes } of eachFolder(config)) {
    const sizeBytes = await sizeOf(path)
    if (sizeBytes > maxBytes * SLACK.share + SLACK.bytes) {
      bad.overfull += 1
      tell(`${path} has ${sizeBytes} bytes, at most ${maxBytes} are allowed`)
    }
  }
}

const round = async (): Promise<void> => {
  const config = configOf(folder, kills % 3 === 2 ? 2 : 0, remotes)
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  const server = new KilledServer(join(folder, 'config.json'))
  if (kills % EARLY === EARLY - 1) {
    // biome-ignore lint/plugin: kills at any moment
    await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 500))
    await server.kill()
    return
  }
  const address = await server.address()
  const targets = Array.from({ length: LANES + EVENT_LANES }, () => ({
    client: new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 }),
    address,
  }))
  await Promise.all(
    worlds.map((world, at) => uploads.get(world)?.check(targets[at % LANES] as Target, seen.get(world) as Seen, tell)),
  )
  if (kills % 5 === 0) await checkFolders(config)
  let isKilled = false
  const wasKilled = (): boolean => isKilled
  await new Promise<void>((resolve) => {
    // biome-ignore lint/plugin: kills at any moment
    let left = UPLOADS_MIN + Math.floor(Math.random() * UPLOADS_MORE)
    const more = (): void => {
      left -= 1
      if (left === 0) resolve()
    }
    loads = targets.map((target, lane) =>
      lane < LANES ? load(target, lane, wasKilled, more) : publish(target, lane, wasKilled),
    )
    // All lanes have failed.
    void Promise.all(loads).then(() => resolve())
  })
  isKilled = true
  await server.kill()
  await Promise.all(loads)
  for (const { client } of targets) client.close()
  for (const line of server.complaints) complaints.set(line, (complaints.get(line) ?? 0) + 1)
  const { lost, wrong, removed } = await events.check(join(folder, 'builds'))
  bad.lostEvents += lost
  bad.wrongEvents += wrong
  removedLogs = removed
}
let loads: Promise<void>[] = []

try {
  for (kills = 0; kills < count; kills++) {
    await round()
    if (kills % 10 === 9) process.stdout.write(`${JSON.stringify({ kills: kills + 1, ...report() })}\n`)
  }
} finally {
  for (const close of closing.reverse()) await close()
}

function report() {
  const total = nothingSeen()
  for (const one of seen.values()) for (const key of Object.keys(total) as (keyof Seen)[]) total[key] += one[key]
  return { ...Object.fromEntries(acknowledged), events: events.acknowledged, removedLogs, ...total, ...bad }
}
const all = { kills, ...report() }
process.stdout.write(`${JSON.stringify(all)}\n`)
for (const [world, { read, evicted }] of seen)
  process.stdout.write(`${world.name}: ${read} read, of which ${evicted} had been evicted\n`)
for (const [line, times] of [...complaints].slice(0, 40)) process.stdout.write(`${times} times: ${line}\n`)
const isFaulty = [...FAULTS.map((fault) => all[fault]), ...Object.values(bad)].some((faults) => faults > 0)
const isIdle = NAMES.some((name) => !acknowledged.has(name))
const evictsNothing =
  count >= MANY && (removedLogs === 0 || [...seen].some(([{ evicts }, { evicted }]) => evicts && evicted === 0))
process.exitCode = isFaulty || isIdle || evictsNothing ? 1 : 0
