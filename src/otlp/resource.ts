import { hostname } from 'node:os'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { SERVICE_NAME } from './settings.js'

/** Who says all this: what the operator adds wins, but for the name of the service. */
export const resourceOf = (attributes: Readonly<Record<string, string>>, version: string): Resource =>
  resourceFromAttributes({
    'service.instance.id': `${hostname()}-${process.pid}`,
    'service.version': version,
    ...attributes,
    'service.name': SERVICE_NAME,
  })
