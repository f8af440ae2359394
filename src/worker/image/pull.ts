import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errnoOf } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import { imageFailure, TO_DISK, tooLarge } from './failure.js'
import { environmentOfImage } from './layout.js'
import { type Prepared, prepareRoot } from './prepare.js'
import { type ImageSource, runSkopeo } from './skopeo.js'
import { type ImageTools, runTool } from './tool.js'
import { type TreeSize, treeSize } from './tree-size.js'
import { watched } from './watch.js'

export interface PullSettings {
  readonly tools: ImageTools
  /** Of the compressed layers, and of what they unpack to. */
  readonly maxBytes: number
  readonly maxFiles: number
  readonly timeoutMs: number
  /** A file of credentials as `skopeo --authfile` takes it; undefined to ask registries without an account. */
  readonly authFile: string | undefined
}

/** An unpacked image; the content of its `image.json`. */
export interface Unpacked extends Prepared, TreeSize {
  /** `NAME=value` as the image has them. */
  readonly environment: readonly string[]
}

export type PullStep = 'fetched' | 'unpacked'

export const ROOT = 'rootfs'
export const FACTS = 'image.json'
const LAYOUT = 'layout'
const TAG = 'image'
const RESOLVE_TIMEOUT_MS = 60_000

/** The bytes of the manifest that a tag names now. */
export const manifestOf = async (source: ImageSource, settings: PullSettings, signal: AbortSignal): Promise<Buffer> => {
  const access = [...credentials(settings, '--no-creds', '--authfile'), ...plain(source, '--tls-verify=false')]
  const args = ['inspect', '--raw', ...access, `docker://${source.name}`]
  return runSkopeo({ tools: settings.tools, source, args, timeoutMs: RESOLVE_TIMEOUT_MS }, signal)
}

/**
 * Fetches an image and unpacks it into the empty directory `place`, as files of this user: `rootfs` and `image.json`. skopeo
 * checks what it fetches by the digests, umoci what it unpacks. umoci runs confined, so that layers can write nothing else. Rejects with
 * FAILED_PRECONDITION if the image is at fault, with other codes if this worker or the registry is. Whatever it left in `place`
 * belongs to the caller.
 */
export const pullImage = async (
  source: ImageSource,
  place: string,
  settings: PullSettings & { readonly onStep?: (step: PullStep, bytes: number) => void },
  signal: AbortSignal,
): Promise<Unpacked> => {
  const { maxBytes, maxFiles, onStep = () => {} } = settings
  const image = source.name
  const layout = `${place}/${LAYOUT}`
  const root = `${place}/${ROOT}`
  try {
    await mkdir(layout, { recursive: true })
    const limits = { bytes: maxBytes, entries: maxFiles }
    const watch = (step: PullStep) => ({ image, limits, onSize: (bytes: number) => onStep(step, bytes) })
    onStep('fetched', 0)
    await watched((within) => fetchLayers(source, layout, settings, within), layout, watch('fetched'), signal)
    const environment = await environmentOfImage(layout, image)
    onStep('unpacked', 0)
    await watched((within) => unpack(place, settings, within), root, watch('unpacked'), signal).catch((error) => {
      throw imageFailure(image, error, TO_DISK)
    })
    const prepared = await prepareRoot(root, image)
    const size = await treeSize(root, limits)
    if (size.bytes > maxBytes) throw tooLarge(image, `${maxBytes} bytes`, 'max_image_bytes')
    if (size.entries > maxFiles) throw tooLarge(image, `${maxFiles} files`, 'max_image_files')
    await rm(layout, { recursive: true, force: true })
    const unpacked: Unpacked = { ...prepared, ...size, environment }
    await writeFile(`${place}/${FACTS}`, JSON.stringify(unpacked))
    await synced(place)
    return unpacked
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StatusError) throw error
    const errno = errnoOf(error)
    if (errno !== 'ENOSPC' && errno !== 'EDQUOT') throw error
    const message = `the image ${image} could not be used: its worker has no room on its disk for it`
    throw new StatusError('RESOURCE_EXHAUSTED', message, { cause: error })
  }
}

const fetchLayers = async (
  source: ImageSource,
  layout: string,
  settings: PullSettings,
  signal: AbortSignal,
): Promise<void> => {
  const { tools, timeoutMs } = settings
  const access = [
    ...credentials(settings, '--src-no-creds', '--src-authfile'),
    ...plain(source, '--src-tls-verify=false'),
  ]
  const args = ['--insecure-policy', 'copy', '--quiet', ...access, `docker://${source.name}`, `oci:${layout}:${TAG}`]
  await runSkopeo({ tools, source, args, place: layout, timeoutMs }, signal)
}

/**
 * In a sandbox that sees the machine read-only, and may write to the place alone. `--rootless` also as root: files belong to
 * this user, there are no devices, and actions see no other owners in their namespace.
 */
const unpack = async (place: string, { tools, timeoutMs }: PullSettings, signal: AbortSignal): Promise<void> => {
  const sandbox = [
    ...['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--tmpfs', '/tmp', '--bind', place, place],
  ]
  const umoci = [tools.umoci, 'raw', 'unpack', '--rootless', '--image', `${place}/${LAYOUT}:${TAG}`, `${place}/${ROOT}`]
  const environment = { PATH: process.env['PATH'] ?? '', HOME: place, TMPDIR: place }
  await runTool({ argv: [tools.bwrap, ...sandbox, '--', ...umoci], environment, timeoutMs, signal })
}

const credentials = ({ authFile }: PullSettings, none: string, file: string): readonly string[] =>
  authFile === undefined ? [none] : [file, authFile]

const plain = ({ isPlain }: ImageSource, option: string): readonly string[] => (isPlain ? [option] : [])

/** Without it, a loss of power could leave a complete name with empty files. */
const synced = async (place: string): Promise<void> => {
  await promisify(execFile)('sync', ['-f', place], { cwd: '/' })
}
