/** The series of a store metric on the page for Prometheus that are not 0: `AC/fast read miss`. */
export const countersOf = async (
  address: string,
  metric: string,
  operations: readonly string[],
): Promise<Record<string, number>> => {
  const text = await (await fetch(`http://${address}/metrics`)).text()
  const series = text.split('\n').filter((line) => line.startsWith(`${metric}{`))
  const counts = series.map((line) => {
    const label = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(line)?.[1] ?? ''
    const operation = label('cache_operation_name')
    const key = `${label('cache_type')} ${operation} ${label('cache_operation_result')}`
    return { operation, key, value: Number(line.split(' ').at(-1)) }
  })
  const counted = counts.filter(({ operation, value }) => operations.includes(operation) && value > 0)
  return Object.fromEntries(counted.map(({ key, value }) => [key, value]))
}
