import { Said } from '../parts/said.js'

/** Addresses with `{commit}`, `{branch}` and `{pull_request}` in them. */
export interface LinkPatterns {
  readonly commit: string | undefined
  readonly pullRequest: string | undefined
}

/** What a build says of itself. */
interface Named {
  readonly commit?: string | undefined
  readonly branch?: string | undefined
  readonly pullRequest?: string | undefined
}

/** Undefined without a pattern, and if the build does not say what the pattern needs. */
export const linkBy = (pattern: string | undefined, { commit, branch, pullRequest }: Named): string | undefined => {
  if (pattern === undefined) return undefined
  const values: Readonly<Record<string, string | undefined>> = { commit, branch, pull_request: pullRequest }
  let isWhole = true
  const link = pattern.replace(/\{(commit|branch|pull_request)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    if (value === '') isWhole = false
    return encodeURIComponent(Buffer.from(value).toString())
  })
  return isWhole ? link : undefined
}

/** A text of a build, as a link to another site if there is one. */
export const Elsewhere = ({ text, link }: { readonly text: string; readonly link: string | undefined }) =>
  link === undefined ? (
    <Said text={text} />
  ) : (
    <a href={link} rel="noopener noreferrer nofollow">
      <Said text={text} />
    </a>
  )
