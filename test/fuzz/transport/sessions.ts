import { setImmediate } from 'node:timers/promises'
import { DEFAULT_FRAME_BYTES, Flag, FrameType, HEAD_BYTES, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { type Frame, framesIn, nameOf } from './frames.js'
import { nghttp2, ours, type Peer } from './peers.js'

/** The first step of a session on which the verdicts differ. What comes after it meets two servers in different states. */
export interface Difference {
  /** The names of the frames. */
  readonly step: string
  /** What the client's stream was before: see `StreamStates`. */
  readonly on: string
  readonly ours: string
  readonly theirs: string
  readonly frames: readonly Frame[]
  /** Names and values of the request that one of them has taken, as it sees it. */
  readonly request: readonly string[]
}

/** What a client has done to its streams, as far as both servers agree. */
class StreamStates {
  readonly #states = new Map<number, 'an open' | 'a half-closed' | 'a reset'>()
  #lastId = 0

  of({ streamId }: Frame): string {
    if (streamId === 0) return 'the connection'
    if (streamId % 2 === 0) return 'an even stream'
    return `${this.#states.get(streamId) ?? (streamId > this.#lastId ? 'an idle' : 'a skipped')} stream`
  }

  after(frame: Frame, verdict: string): void {
    const { type, flags, streamId } = frame
    const opened = /request (\d+)/.exec(verdict)
    if (opened !== null) this.#states.set(Number(opened[1]), 'an open')
    if (type === FrameType.HEADERS) this.#lastId = Math.max(this.#lastId, streamId)
    if ((type === FrameType.HEADERS || type === FrameType.DATA) && (flags & Flag.END_STREAM) !== 0) this.#end(streamId)
    if (type === FrameType.RST_STREAM && this.#states.has(streamId)) this.#states.set(streamId, 'a reset')
    for (const [, id] of verdict.matchAll(/reset (\d+)/g)) this.#states.set(Number(id), 'a reset')
  }

  #end(streamId: number): void {
    if (this.#states.get(streamId) === 'an open') this.#states.set(streamId, 'a half-closed')
  }
}

/**
 * What has to be judged at once: a frame, or all frames of a header block, and what came in its place. nghttp2 looks at the
 * beginning of what is incomplete, ours does not: the rest of a session that ends within is no step.
 */
const stepsIn = (session: Buffer): Frame[][] => {
  const steps: Frame[][] = []
  let block: Frame[] | undefined
  for (const frame of framesIn(session)) {
    const { bytes, length } = frame
    if (bytes.length < HEAD_BYTES + (length <= DEFAULT_FRAME_BYTES ? length : 0)) break
    const isPart = frame.type === FrameType.HEADERS || frame.type === FrameType.CONTINUATION
    const isLast = !isPart || (frame.flags & Flag.END_HEADERS) !== 0
    if (block !== undefined) block.push(frame)
    else if (frame.type === FrameType.HEADERS && !isLast) block = [frame]
    else steps.push([frame])
    const isOver = frame.type !== FrameType.CONTINUATION && block !== undefined && block.length > 1
    if (block === undefined || !(isLast || isOver)) continue
    steps.push(block)
    block = undefined
  }
  return steps
}

/** nghttp2 says in memory what it has to say within one turn of the event loop; ours within the same. */
const TURNS = 2

const verdictOn = async (bytes: Buffer, peers: readonly [Peer, Peer]): Promise<[string, string]> => {
  for (const peer of peers) peer.give(bytes)
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  return [peers[0].verdict(), peers[1].verdict()]
}

/** Node ends a session with INTERNAL_ERROR, whatever nghttp2 found wrong: such an end agrees with any other. */
const agree = (own: string, their: string): boolean =>
  own === their || (own.startsWith('connection ') && /^connection (INTERNAL_ERROR|[^A-Z])/.test(their))

/** Gives both servers a session, which is what a client sends after the preface, frame by frame. */
export const compare = async (session: Buffer): Promise<Difference | undefined> => {
  const peers = [ours(), nghttp2()] as const
  const states = new StreamStates()
  try {
    await verdictOn(PREFACE, peers)
    for (const frames of stepsIn(session)) {
      const [first] = frames as [Frame]
      const on = states.of(first)
      const [own, their] = await verdictOn(Buffer.concat(frames.map(({ bytes }) => bytes)), peers)
      if (!agree(own, their)) {
        const [ourPeer, theirPeer] = peers
        const request = own.startsWith('request') ? ourPeer.lastRequest : theirPeer.lastRequest
        return { step: frames.map(nameOf).join(' '), on, ours: own, theirs: their, frames, request }
      }
      if (own.startsWith('connection ')) return undefined
      states.after(first, own)
    }
    return undefined
  } finally {
    for (const peer of peers) peer.close()
  }
}
