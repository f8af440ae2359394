/** The must rows whose check no mutation of the traffic can break, each with the reason. */
export const uncatchable: Readonly<Record<string, string>> = {}
