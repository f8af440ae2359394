import { createHash } from 'node:crypto'
import { timeText } from '../base/quantities.js'
import { version } from '../base/version.js'
import type { Config } from '../config/config.js'
import { addressText } from '../config/value/address.js'
import type { Answer } from '../health/registry.js'
import { hasQueue, queueAndWorkers } from './actions.js'
import { connect } from './connect.js'
import { escaped, mark, page, section, table } from './html.js'
import { ago, type Reader, type StatusPageParts } from './parts.js'
import { badge, components } from './problems.js'
import { httpCaches, stores } from './stores.js'
import { STYLE } from './style.js'

export interface PageAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Nothing is loaded, no script runs, forms go to this server alone, and no other page can show this one below its own
 * buttons. The page has tokens of its reader, which no cache may keep.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
}

const REFRESH_S = 5

/** The status page for people. It shows the services and their state, with the numbers of the exported metrics. */
export const statusPage = (parts: StatusPageParts) => {
  const release = version()
  return async (reader: Reader): Promise<PageAnswer> => {
    const answers = parts.health.latest()
    const isQueueing = hasQueue(parts)
    const body = [
      head(parts, release, answers),
      parts.trends.pictures(isQueueing),
      ...(isQueueing ? [section('Queue and workers', queueAndWorkers(parts, reader))] : []),
      section('Stores', stores(parts)),
      ...(parts.metrics.httpCaches.all.length === 0 ? [] : [section('Build tools over HTTP', httpCaches(parts))]),
      section('Components', components(answers)),
      section('Warnings and errors', lines(parts)),
      section('Connect a client', connect(parts, reader.host ?? hostOf(parts))),
      section('Services', served(parts.config)),
    ]
    const html = page('remexec', REFRESH_S, body.join('\n'))
    return { status: 200, contentType: 'text/html; charset=utf-8', body: html, headers: HEADERS }
  }
}

const hostOf = ({ server: { listener } }: StatusPageParts): string => addressText(listener)

const head = (parts: StatusPageParts, release: string, answers: readonly Answer[]): string => {
  const { clock, metrics, healthPath, buildsLink } = parts
  const { word, list } = badge(answers, parts)
  const facts = `version ${release}, running for ${timeText(clock.now() - metrics.startedMs)}`
  const time = new Date(clock.now()).toISOString()
  const links = [
    healthPath === undefined ? '' : `; for probes: ${linkTo(healthPath, healthPath)}`,
    buildsLink === undefined ? '' : `; ${linkTo(buildsLink, 'builds')}`,
  ]
  return `<h1>remexec ${word}</h1>\n<p class="facts">${escaped(facts)}, ${time}${links.join('')}</p>\n${list}`
}

const linkTo = (path: string, text: string): string => `<a href="${escaped(path)}">${escaped(text)}</a>`

const served = ({ servers }: Config): string =>
  table(
    ['Server', 'Service', 'Instances'],
    servers.flatMap(({ name, services }) =>
      Object.entries({
        cas: services.cas,
        ac: services.ac,
        bytestream: services.bytestream,
        execution: services.execution,
      })
        .filter(([, instances]) => instances.size > 0)
        .map(([service, instances]) => [name, service, [...instances.keys()].map(instanceText).join(', ')])
        .concat(services.worker_api === undefined ? [] : [[name, 'worker_api', services.worker_api.scheduler]]),
    ),
    'nothing',
  )

const instanceText = (name: string): string => (name === '' ? '(empty)' : name === '*' ? 'any' : name)

const lines = ({ recent, clock }: StatusPageParts): string =>
  table(
    ['When', 'Level', 'What happened', ''],
    recent.lines.map(({ atMs, level, message, about }) => [
      ago(atMs, clock.now()),
      mark(level === 'error' ? 'bad' : 'warn', level),
      message,
      about,
    ]),
    'none since the start',
  )
