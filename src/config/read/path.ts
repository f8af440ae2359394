/** Path from the root of a document to a value: object keys and array indexes. */
export type Path = readonly (string | number)[]

/** A path in the user's form: `stores[2].filesystem.content_path`, `services.cas["team a"]`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w$-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '') || '(the whole file)'

export const pathKey = (path: Path): string => JSON.stringify(path)
