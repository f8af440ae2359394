import { type CodeName, StatusError } from '../../base/status-error.js'
import { ofThirdParty } from '../../proto/error-details.js'
import { ToolFailure } from './tool.js'

interface Kind {
  readonly words: RegExp
  readonly code: CodeName
  readonly advice: string
}

/**
 * Failures by words of skopeo and umoci, which have one exit code for all. The first that fits counts. FAILED_PRECONDITION is
 * final for the client; the others are failures of the worker, and the action is tried elsewhere.
 */
const KINDS: readonly Kind[] = [
  {
    words: /no space left on device|disk quota exceeded/i,
    code: 'RESOURCE_EXHAUSTED',
    advice: 'its worker has no room on its disk for it: lower max_bytes of container_images, or give it a larger disk',
  },
  {
    words: /toomanyrequests|too many requests|\b429\b/i,
    code: 'UNAVAILABLE',
    advice: 'its registry answers no more for now: an account in auth_file of container_images may have a higher limit',
  },
  {
    words: /unauthorized|authentication required|denied|\b401\b|\b403\b|invalid username/i,
    code: 'FAILED_PRECONDITION',
    advice:
      'its registry does not give it to the worker: check the name, or give the worker an auth_file in container_images',
  },
  {
    words: /does not match|did not match|mismatch|digest.*invalid|invalid checksum/i,
    code: 'DATA_LOSS',
    advice: 'what its registry sent is not what its digests name',
  },
  {
    words:
      /manifest unknown|name unknown|not found|\b404\b|repository name not known|no image found in (manifest list|image index)/i,
    code: 'FAILED_PRECONDITION',
    advice: 'its registry has no such image for this kind of machine: check name, tag and digest',
  },
  {
    words:
      /unsupported|unknown media|not implemented|invalid (manifest|tar|header)|unexpected (type|end)|archive\/tar|gzip: invalid/i,
    code: 'FAILED_PRECONDITION',
    advice:
      'it is in a form that cannot be unpacked here: expected an image of Docker or OCI with layers of tar, plain or gzip',
  },
]

const AWAY = 'its registry cannot be reached now: check the network of the worker and the name of the registry'

/** What the failure of a tool means for an action that names `image`. Other errors stay as they are. */
export const imageFailure = (image: string, error: unknown, fallback: Omit<Kind, 'words'>): unknown => {
  if (!(error instanceof ToolFailure)) return error
  const known = KINDS.find(({ words }) => words.test(error.said))
  const { code, advice } = known ?? (error.isLate ? LATE : fallback)
  const details = code === 'UNAVAILABLE' || code === 'DATA_LOSS' ? [ofThirdParty('IMAGE_REGISTRY')] : []
  return new StatusError(code, `the image ${image} could not be used: ${advice} (${shown(error.said)})`, {
    ...{ cause: error, details },
  })
}

export const FROM_REGISTRY = { code: 'UNAVAILABLE', advice: AWAY } as const
export const TO_DISK = { code: 'FAILED_PRECONDITION', advice: 'it cannot be unpacked' } as const

const LATE = { code: 'UNAVAILABLE', advice: 'it did not arrive within pull_timeout_s of container_images' } as const

/** The reason of a Go program: the text of its last log line. */
const shown = (said: string): string => {
  const line = said.split('\n').at(-1) ?? ''
  const text = /msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line
  return (text.replaceAll('\\"', '"') || 'no reason was given').slice(0, 400)
}

export const tooLarge = (image: string, what: string, limit: string): StatusError =>
  new StatusError(
    'FAILED_PRECONDITION',
    `the image ${image} could not be used: it has more than ${what} (${limit} of container_images of the worker)`,
  )
