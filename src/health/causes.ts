import { type HealthReport, reasonOf } from './report.js'

/** `CAS/slow` of `stores/CAS/slow` and of `connections/CAS/slow/HOST`, which is below it. */
const pathOf = ({ component }: HealthReport): string => component.slice(component.indexOf('/') + 1)

/** Whether a component above tells the reason of one that is nested in it. */
const tells = (above: HealthReport, below: HealthReport): boolean => {
  if (!pathOf(below).startsWith(`${pathOf(above)}/`)) return false
  const { reason } = reasonOf(below)
  return reason !== undefined && reasonOf(above).reason?.endsWith(reason) === true
}

/** Whether both components have the same trouble, because one is nested in the other. */
export const shareCause = (one: HealthReport, other: HealthReport): boolean => tells(one, other) || tells(other, one)

export interface Cause {
  readonly report: HealthReport
  /** The outermost component that has the same trouble, if there is one. */
  readonly outermost: HealthReport | undefined
}

/** One component for each trouble: the innermost of those that tell it. */
export const causesIn = (reports: readonly HealthReport[]): readonly Cause[] =>
  reports
    .filter((report) => !reports.some((other) => tells(report, other)))
    .map((report) => {
      const above = reports.filter((other) => tells(other, report))
      const [outermost] = above.sort((a, b) => pathOf(a).length - pathOf(b).length)
      return { report, outermost }
    })
