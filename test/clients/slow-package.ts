const slowNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `slow_${index}`)

/**
 * A package of Bazel with actions that take a while each, so that faults meet some of them, and one that needs them all. Each adds a
 * line to a file of its name in the folder `trace` when it begins.
 */
export const slowPackage = (trace: string, count: number, seconds: number): string => {
  const names = slowNames(count)
  const rules = names.map(
    (name) =>
      `genrule(name = "${name}", outs = ["${name}.txt"], cmd = "echo >> ${trace}/${name}; sleep ${seconds}; echo ${name} > $@")`,
  )
  const sources = names.map((name) => `":${name}"`).join(', ')
  return `${rules.join('\n')}\ngenrule(name = "all", srcs = [${sources}], outs = ["all.txt"], cmd = "cat $(SRCS) > $@")\n`
}

/** What the last action of that package makes. */
export const slowOutput = (count: number): string =>
  slowNames(count)
    .map((name) => `${name}\n`)
    .join('')
