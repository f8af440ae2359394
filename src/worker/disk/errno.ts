/** The name Node gives to a failed system call (`ENOENT`), if that is what the error is. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
