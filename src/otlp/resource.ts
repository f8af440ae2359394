import { hostname } from 'node:os'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { SERVICE_NAME } from './settings.js'

/** Describes this process. The operator's attributes take precedence, except for the service name. */
export const resourceOf = (attributes: Readonly<Record<string, string>>, version: string): Resource =>
  resourceFromAttributes({
    'service.instance.id': `${hostname()}-${process.pid}`,
    'service.version': version,
    ...attributes,
    'service.name': SERVICE_NAME,
  })
