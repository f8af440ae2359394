/** The last hash and size in a resource name, as far as they are there. */
export const sizeIn = (
  resourceName: string | undefined,
): { readonly hash: string | undefined; readonly sizeBytes: number } => {
  const [, hash, sizeBytes] = /\/?([0-9a-f]{32,128})\/(\d+)(?:\/|$)/.exec(resourceName ?? '') ?? []
  return { hash, sizeBytes: Number(sizeBytes ?? 0) }
}

/** Whether the name is that of a compressed transfer. */
export const isCompressed = (resourceName: string | undefined): boolean =>
  /(^|\/)compressed-blobs\//.test(resourceName ?? '')
