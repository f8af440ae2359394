/** A placeholder in the template of a scope; the group is the name of a claim. */
export const SCOPE_PLACEHOLDER = /\{(?:claims\.([^{}]+)|name|instance)\}/g

/** What is expected instead of a template; undefined if it is right. */
export const templateFault = (template: string): string | undefined =>
  /[{}]/.test(template.replace(SCOPE_PLACEHOLDER, ''))
    ? '{claims.NAME}, {name} and {instance} between other text without braces'
    : undefined
