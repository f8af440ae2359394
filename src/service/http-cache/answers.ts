import type { AnswerRules } from '../../http/request.js'

/**
 * What every answer of an HTTP cache says. Who may store an entry chooses its bytes, and the cache has the address of the
 * pages: a browser must not run what it gets from here.
 */
export const CACHE_ANSWERS: AnswerRules = {
  headers: { 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox" },
  contentTypes: new Set([
    ...['application/octet-stream', 'application/json', 'text/plain'],
    'application/vnd.gradle.build-cache-artifact.v2',
    // Of PROPFIND, for WebDAV.
    'application/xml',
  ]),
}
