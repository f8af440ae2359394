import { saidText } from './said.js'

/** A line to copy, with a button that does it. */
export const Copyable = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div class="client line">
    <button type="button" class="copy" aria-label={saidText(`Copy: ${label}`)}>
      Copy
    </button>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways */}
    <section class="scrolled" aria-label={saidText(label)} tabIndex={0}>
      <pre>{text}</pre>
    </section>
    <span class="copied" role="status" />
  </div>
)
