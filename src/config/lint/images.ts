import type { LocalWorkerOptions } from '../config.js'
import type { LintContext } from './context.js'
import { lintNetworks } from './networks.js'

const REGISTRY =
  /^(https?:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*\/?$/i

/** Checks a worker that runs actions in images. */
export const lintImages = (options: LocalWorkerOptions, { findings, originOf }: LintContext): void => {
  const { container_images: images, entrypoint } = options
  if (images === undefined) return
  const path = [...originOf(options), 'container_images']
  if (!options.use_mount_namespace) {
    findings.error(path, 'actions run in images by a mount namespace of their own', {
      found: 'no use_mount_namespace',
      expected: '"use_namespaces": true and "use_mount_namespace": true beside it',
    })
  }
  if (options.input_root_is_root) {
    findings.error(path, 'an action has one root: its image, or its inputs', {
      found: 'input_root_is_root',
      expected: 'one of the two',
    })
  }
  if (entrypoint !== '') {
    findings.error(path, 'entrypoint is a program of this machine, which an action in an image does not see', {
      found: JSON.stringify(entrypoint),
      expected: 'no entrypoint beside container_images',
    })
  }
  for (const [index, text] of images.registries.entries()) {
    if (REGISTRY.test(text)) continue
    findings.error([...path, 'registries', index], `${JSON.stringify(text)} is no registry`, {
      found: JSON.stringify(text),
      expected: 'a form like ghcr.io, ghcr.io/acme, localhost:5000 or http://10.0.0.5:5000',
    })
  }
  lintNetworks({ findings }, path, images.allow_addresses)
  if (images.allow_addresses.length > 0 && images.registries.length > 0) {
    findings.warning(
      [...path, 'allow_addresses'],
      'allow_addresses has no effect beside registries: only those are used, whatever their addresses',
      { at: 'key' },
    )
  }
}
