/**
 * A module of the built server. tsx names every closure at run time, which adds a tenth to a sixth of a small call's
 * CPU.
 */
export const built = <M>(path: string): Promise<M> => import(new URL(`../dist/${path}`, import.meta.url).href)
