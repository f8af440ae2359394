import { Said, saidText } from './said.js'

/** Lines of text as they are, which scroll sideways in themselves, with the keyboard too. */
export const Scrolled = ({ label, text }: { readonly label: string; readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it sideways
  <section class="scrolled" aria-label={saidText(label)} tabIndex={0}>
    <pre>
      <Said text={text} max={text.length} />
    </pre>
  </section>
)
