/** Of all pages: light and dark, by the setting of the reader's system. Colours have a contrast of 4.5 and more. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2126; --dim: #56606b; --line: #dde1e6; --back: #f5f6f8; --card: #fff; --bar: #1d2733; --bar-text: #eef2f6; --good: #1d6b43; --warn: #805300; --bad: #b3261e; --run: #1f5fa8; --ink: #1f5fa8; --soft: #eaeef3; --violet: #7a3fa0; --cyan: #0f6674; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ea; --dim: #a3adb7; --line: #343b43; --back: #14171a; --card: #1c2024; --bar: #0e1114; --bar-text: #e4e7ea; --good: #5fc39f; --warn: #e3ae49; --bad: #f58d85; --run: #86b8ea; --ink: #86b8ea; --soft: #262b31; --violet: #cba0e8; --cyan: #74c7d4; }
}
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--back); }
a { color: var(--ink); } a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; border-radius: .2rem; }
.skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .25rem .75rem; z-index: 1; }
.bar { background: var(--bar); color: var(--bar-text); } .bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; max-width: 84rem; margin: 0 auto; padding: .6rem 1.25rem; }
.bar a { color: inherit; text-decoration: none; } .bar a:hover { text-decoration: underline; } .bar :focus-visible { outline-color: #fff; }
.bar .name { font-weight: 700; letter-spacing: .01em; } .bar nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; } .bar nav [aria-current] { font-weight: 600; text-decoration: underline; text-underline-offset: .35rem; text-decoration-thickness: 2px; }
.bar .reader { margin-left: auto; display: flex; gap: .75rem; align-items: center; font-size: .9rem; } .bar button { color: inherit; border-color: currentColor; background: none; }
main { max-width: 84rem; margin: 0 auto; padding: 1.25rem; } footer { max-width: 84rem; margin: 0 auto; padding: 1rem 1.25rem 2rem; color: var(--dim); font-size: .85rem; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: .25rem 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } h3 { font-size: .95rem; margin: 1.25rem 0 .35rem; }
p { margin: .5rem 0; max-width: 60rem; } .dim, .none { color: var(--dim); } .small { font-size: .85rem; }
code, pre, .mono { font: 13px/1.5 ui-monospace, monospace; } code { overflow-wrap: anywhere; }
section.scrolled { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; margin: .25rem 0; max-height: 40rem; } section.scrolled pre { border: 0; margin: 0; overflow: visible; width: max-content; }
del, ins { text-decoration: none; } del { color: var(--bad); } ins { color: var(--good); }
summary { cursor: pointer; padding: .25rem 0; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; margin: .25rem 0; overflow-x: auto; }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding: .5rem .8rem; color: var(--dim); font-size: .85rem; border-bottom: 1px solid var(--line); }
th, td { text-align: left; padding: .4rem .8rem; vertical-align: top; font-variant-numeric: tabular-nums; } tbody tr + tr > * { border-top: 1px solid var(--line); } tbody tr:hover { background: var(--soft); }
thead th { color: var(--dim); font-size: .85rem; font-weight: 600; white-space: nowrap; border-bottom: 1px solid var(--line); } thead th a { color: inherit; } tbody th { font-weight: 400; }
td.number, th.number { text-align: right; } td.number, .nowrap { white-space: nowrap; } td.text, th.text { min-width: 12rem; overflow-wrap: anywhere; }
.mark { font-weight: 600; white-space: nowrap; } .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .run { color: var(--run); }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .7rem; font-size: 1rem; font-weight: 600; vertical-align: .1rem; white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .6rem 1.5rem; margin: .75rem 0; } dl.facts dt { color: var(--dim); font-size: .85rem; } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
ul.numbers { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; } ul.numbers li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; min-width: 7rem; color: var(--dim); font-size: .9rem; } ul.numbers b { display: block; font-size: 1.3rem; color: var(--text); font-variant-numeric: tabular-nums; }
.note { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid var(--dim); border-radius: .3rem; padding: .5rem 1rem; margin: .75rem 0; overflow-wrap: anywhere; } .note.bad { border-left-color: var(--bad); color: inherit; } .note.warn { border-left-color: var(--warn); color: inherit; }
nav.tabs { display: flex; flex-wrap: wrap; gap: .25rem; margin: 1rem 0; border-bottom: 1px solid var(--line); } nav.tabs a { padding: .4rem .9rem; text-decoration: none; color: var(--dim); border-bottom: 3px solid transparent; } nav.tabs a:hover { color: var(--text); } nav.tabs [aria-current] { color: var(--text); border-bottom-color: var(--ink); font-weight: 600; }
nav.pager { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .75rem 0; }
form.search { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: .75rem 0 1rem; } form.search label { display: grid; gap: .15rem; font-size: .85rem; color: var(--dim); }
form.login { display: grid; gap: .75rem; max-width: 24rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1.25rem; } form.login label { display: grid; gap: .2rem; }
input, select, button { font: inherit; color: var(--text); background: var(--card); border: 1px solid #7d8894; border-radius: .35rem; padding: .3rem .6rem; max-width: 100%; min-height: 2.15rem; } button { cursor: pointer; font-weight: 600; } button:hover { background: var(--soft); } form { margin: 0; }
.odd { border: 1px solid currentColor; border-radius: .2rem; padding: 0 .2rem; font-size: .8em; } .cut { color: var(--dim); font-style: italic; }
.terminal { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; overflow: auto; max-height: 36rem; margin: .5rem 0; } .terminal.whole { max-height: none; } .terminal pre { border: 0; background: none; overflow: visible; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.t-bold { font-weight: 700; } .t-underline { text-decoration: underline; } .t-red { color: var(--bad); } .t-green { color: var(--good); } .t-yellow { color: var(--warn); } .t-blue { color: var(--ink); } .t-magenta { color: var(--violet); } .t-cyan { color: var(--cyan); } .t-black, .t-white { color: var(--dim); }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .75rem 0; } article h3 { margin-top: 0; overflow-wrap: anywhere; } article .terminal { max-height: 20rem; background: var(--back); }
details > summary { cursor: pointer; padding: .25rem 0; } ul.words { list-style: none; padding: 0; margin: .25rem 0; } ul.words li { padding: .05rem 0; overflow-wrap: anywhere; }
svg { display: block; max-width: 100%; } svg.picture { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .4rem; width: 100%; height: auto; margin: .5rem 0; } svg .k0 { fill: #7d8894; } svg .k1 { fill: #3f83c8; } svg .k2 { fill: #2f9e77; } svg .k3 { fill: #c98a1b; } svg text { pointer-events: none; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
@media (prefers-reduced-motion: no-preference) { a, button { transition: color .1s, background-color .1s; } }
`
