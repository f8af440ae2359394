import { StatusError } from '../../base/status-error.js'
import { guardedImmediate, guardedTimeout } from '../../base/timers.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { RecordPacker } from '../../rpc/packed-records.js'
import { type ActionOutcome, OUTCOMES } from '../../rpc/request-records.js'
import type { AuditEntry } from '../../security/audit-log.js'
import type { AskedParts } from '../../service/bytestream/thread-uploads.js'
import type { Claimant } from '../../store/index/promises.js'
import type { Written } from '../../store/kinds/filesystem/files/file-writer.js'
import { draftsOf, type SmallBlob } from '../../store/kinds/filesystem/records/drafts.js'
import type { ToOwnerOfStore } from '../../store/kinds/filesystem/thread-store.js'
import {
  type Answer,
  type CommitSmallQuestion,
  type Failure,
  type Question,
  type RefusedBlob,
  type ReportMessage,
  sentDigest,
} from './thread-calls.js'

const NUMBERS_MAX = 10_000
/** Nobody waits for records of requests, so they are sent with the next message that somebody waits for, or this late. */
const RECORDS_WAIT_MS = 20
const RECORDS_AT_ONCE = 256

/** Sends a message to the owner, and gives it these buffers. */
export type Post<Message> = (message: Message, transferred?: readonly ArrayBuffer[]) => void

interface Asked {
  resolve(value: unknown): void
  reject(error: StatusError): void
}

/** Small blobs of this turn for one store, with the same claims. */
interface Small {
  readonly about: Pick<CommitSmallQuestion, 'path' | 'invocation' | 'keepForMs'>
  readonly blobs: SmallBlob[]
  /** Told what became of each of them. */
  readonly settle: ((failure: StatusError | undefined) => void)[]
}

/** Tells and asks the owner from a service thread: all of one turn of the event loop in one message. */
export class ToOwner {
  /** The `KeptParts` of the process. */
  readonly parts: AskedParts = {
    keep: async (part) => void (await this.#ask({ about: 'keep_part', part })),
    sizeOf: async (name) => (await this.#ask({ about: 'size_of_part', name })) as number | undefined,
    take: async (name) => (await this.#ask({ about: 'take_part', name })) as Awaited<ReturnType<AskedParts['take']>>,
  }
  readonly #post: Post<ReportMessage>
  /** The slots that were used since the last call, of a store. */
  readonly #takeUsed: (path: string) => Int32Array | undefined
  readonly #numbers = new Map<string, number>()
  readonly #uses = new Set<string>()
  readonly #claims = new Map<
    string,
    { readonly about: readonly [string, string, number]; readonly slots: Set<number> }
  >()
  readonly #touched = new Set<string>()
  readonly #records = new RecordPacker()
  readonly #counted = new Map<string, number[]>()
  #audited: AuditEntry[] = []
  #questions: (readonly [id: number, question: Question])[] = []
  readonly #small = new Map<string, Small>()
  readonly #asked = new Map<number, Asked>()
  #isScheduled = false
  #recordsWait: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(post: Post<ReportMessage>, takeUsed: (path: string) => Int32Array | undefined) {
    this.#post = post
    this.#takeUsed = takeUsed
  }

  /** What the store at `path` needs. */
  ofStore(path: string): ToOwnerOfStore {
    return {
      usesWait: () => {
        this.#uses.add(path)
        this.#schedule()
      },
      numberOf: (invocation) => this.#numbers.get(invocation),
      claim: (slot, claimant) => this.#claim(path, slot, claimant),
      commit: (digest, written, call) => this.#commit(path, digest, written, call),
      damaged: async (digest, slot, location, why) => {
        await this.#ask({ about: 'damaged', path, digest: sentDigest(digest), slot, location, why })
      },
    }
  }

  /** A build has calls here. */
  touched(id: string): void {
    this.#touched.add(id)
    this.#schedule()
  }

  record(...record: Parameters<RecordPacker['add']>): void {
    this.#records.add(...record)
    if (this.#records.count >= RECORDS_AT_ONCE) this.#schedule()
    else this.#recordsWait ??= guardedTimeout(() => this.#report(), RECORDS_WAIT_MS).unref()
  }

  /** A request about an action of a build. Told with its record. */
  counted(id: string, outcome: ActionOutcome['outcome']): void {
    const counts = this.#counted.get(id) ?? OUTCOMES.map(() => 0)
    const at = OUTCOMES.indexOf(outcome)
    counts[at] = (counts[at] ?? 0) + 1
    this.#counted.set(id, counts)
  }

  audited(entry: AuditEntry): void {
    this.#audited.push(entry)
    this.#schedule()
  }

  answered(answers: readonly Answer[]): void {
    for (const { id, value, failure } of answers) {
      const asked = this.#asked.get(id)
      this.#asked.delete(id)
      if (failure === undefined) asked?.resolve(value)
      else asked?.reject(errorOf(failure))
    }
  }

  /** The numbers by which the owner knows builds. */
  numbered(numbers: readonly (readonly [invocation: string, number: number])[]): void {
    if (this.#numbers.size > NUMBERS_MAX) this.#numbers.clear()
    for (const [id, number] of numbers) this.#numbers.set(id, number)
  }

  #claim(path: string, slot: number, { invocation, keepForMs = 0 }: Claimant): void {
    const id = invocation?.id ?? ''
    const key = `${path} ${keepForMs} ${id}`
    const known = this.#claims.get(key) ?? { about: [path, id, keepForMs] as const, slots: new Set<number>() }
    known.slots.add(slot)
    this.#claims.set(key, known)
    this.#schedule()
  }

  async #commit(path: string, digest: Digest, written: Written, call: Call): Promise<void> {
    const { invocation, keepForMs, held } = call
    const about = { path, invocation: invocation?.id, keepForMs }
    if (!Buffer.isBuffer(written)) {
      await this.#ask({ about: 'commit', ...about, digest: sentDigest(digest), file: written })
      return
    }
    // The bytes of a small blob are sent as a copy, beside the message of the client that they came in.
    const sizeBytes = written.length
    const copied = sizeBytes === 0 ? undefined : held?.ledger.kinds.requests.reserveOrThrow(held.holder, sizeBytes)
    const small = this.#smallFor(about)
    small.blobs.push({ digest, bytes: written })
    return new Promise((resolve, reject) => {
      small.settle.push((failure) => {
        copied?.release()
        if (failure === undefined) resolve()
        else reject(failure)
      })
    })
  }

  #smallFor(about: Small['about']): Small {
    const key = `${about.path} ${about.keepForMs} ${about.invocation}`
    const known = this.#small.get(key)
    if (known !== undefined) return known
    const small: Small = { about, blobs: [], settle: [] }
    this.#small.set(key, small)
    this.#schedule()
    return small
  }

  #ask(question: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#askFor(question, { resolve, reject })
      this.#schedule()
    })
  }

  #askFor(question: Question, asked: Asked): void {
    const id = ++this.#lastId
    this.#questions.push([id, question])
    this.#asked.set(id, asked)
  }

  /** Tells at once what waits for the end of the turn. */
  flush(): void {
    if (this.#isScheduled || this.#recordsWait !== undefined) this.#report()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    guardedImmediate(() => {
      if (this.#isScheduled) this.#report()
    })
  }

  #report(): void {
    this.#isScheduled = false
    clearTimeout(this.#recordsWait)
    this.#recordsWait = undefined
    const buffers = [...this.#small.values()].map((small) => this.#askForSmall(small))
    const report: ReportMessage = {
      kind: 'report',
      uses: [...this.#uses].flatMap((path) => {
        const slots = this.#takeUsed(path)
        return slots === undefined ? [] : [[path, slots] as const]
      }),
      claims: [...this.#claims.values()].map(({ about, slots }) => [...about, Int32Array.from(slots)] as const),
      touched: [...this.#touched],
      counted: [...this.#counted],
      records: this.#records.take(),
      audited: this.#audited,
      questions: this.#questions,
    }
    this.#uses.clear()
    this.#claims.clear()
    this.#touched.clear()
    this.#counted.clear()
    this.#audited = []
    this.#questions = []
    this.#small.clear()
    this.#post(report, buffers)
  }

  /** Returns the memory that is sent. */
  #askForSmall({ about, blobs, settle }: Small): ArrayBuffer {
    const packed = draftsOf(blobs)
    this.#askFor(
      { about: 'commit_small', ...about, packed },
      {
        resolve: (refused) => {
          const failures = new Map(
            ((refused ?? []) as readonly RefusedBlob[]).map((one) => [one.at, errorOf(one.failure)]),
          )
          for (const [at, settled] of settle.entries()) settled(failures.get(at))
        },
        reject: (error) => {
          for (const settled of settle) settled(error)
        },
      },
    )
    return packed.buffer
  }
}

const errorOf = ({ code, message, details }: Failure): StatusError => new StatusError(code, message, { details })
