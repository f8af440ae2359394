/** The way from the root of a document to a value: keys of objects and places in arrays. */
export type Path = readonly (string | number)[]

/** A path as the user would write it: `stores[2].filesystem.content_path`, `services.cas["team a"]`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w$-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '') || '(the whole file)'

export const pathKey = (path: Path): string => JSON.stringify(path)
