/** The status of one component, as the health report shows it (interface specification 2.6). */
export type HealthStatus =
  | { readonly state: 'Ok' | 'Initializing' | 'Warning'; readonly message: string }
  | { readonly state: 'Failed'; readonly message: string; readonly error: string }

/** A component with a health check: `namespace` like `/stores/CAS`, `component` like `stores/CAS`. */
export interface HealthProbe {
  readonly namespace: string
  readonly component: string
  /** The class name shown in the report. */
  readonly structName: string
  /** The service works without this component: it is a Warning when it fails or does not answer. */
  readonly isOptional?: boolean
  /** The service is not healthy before this component has worked once. */
  readonly isAwaited?: boolean
  check(signal: AbortSignal): Promise<HealthStatus>
}
