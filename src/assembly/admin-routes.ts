import type { Admin } from '../admin/admin.js'
import type { ServerConfig } from '../config/config.js'
import { askedBy, page } from '../http/answer.js'
import { type HttpRequest, pageRoute, type Route } from '../http/request.js'

/** The paths of the service admin of a server, for operators only. */
export const adminRoutes = ({ services }: ServerConfig, admin: Admin): readonly Route[] =>
  services.admin === undefined
    ? []
    : [...admin.pages(services.admin.path)].map(([path, { methods, work }]) =>
        pageRoute(
          path,
          page((request) => work(request.signal, { ...askedOf(request), by: askedBy(request) })),
          'operator',
          [...methods],
        ),
      )

const askedOf = ({ method, target, visitor }: HttpRequest) => ({ method, target, visitor })
