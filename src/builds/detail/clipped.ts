export const MAX_LABEL = 500

export const clipped = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text
