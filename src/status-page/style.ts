/** Of the page: light and dark, by the setting of the reader's system. */
export const STYLE = `
:root { --text: #1c2126; --dim: #58626d; --line: #e2e5e9; --back: #f6f7f9; --card: #fff; --good: #22744a; --warn: #8a5a00; --bad: #b3261e; --ink: #2b6cb0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ea; --dim: #9aa4ae; --line: #333a41; --back: #15181b; --card: #1d2125; --good: #57b894; --warn: #e0a93f; --bad: #f2827a; --ink: #7fb3e6; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: var(--text); background: var(--back); }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; } h3 { font-size: .9rem; margin: 1rem 0 .25rem; color: var(--dim); }
a { color: var(--ink); } .none, .facts { color: var(--dim); } .wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); }
th, td { text-align: left; padding: .35rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--dim); font-size: .85rem; white-space: nowrap; }
td { min-width: 3rem; white-space: nowrap; } td.text { min-width: 18rem; white-space: normal; } code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; } td code { display: inline-block; min-width: 9rem; white-space: normal; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; margin: 0; overflow-x: auto; font: 13px/1.6 ui-monospace, monospace; }
.mark { font-weight: 600; } .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.state { padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor; font-size: 1rem; font-weight: 600; vertical-align: .1rem; }
.reasons { margin: .75rem 0 0; padding: .5rem 1rem .5rem 2rem; border-left: .25rem solid currentColor; background: var(--card); } .reasons li { color: var(--text); }
.numbers { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.numbers li { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; min-width: 6rem; color: var(--dim); }
.numbers b { display: block; font-size: 1.3rem; color: var(--text); }
.trend { flex: 1 1 14rem; } .trend svg { display: block; width: 100%; height: 2.5rem; margin-top: .25rem; } .trend path { fill: none; stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.clients { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 1rem; }
form { margin: 0; } button { font: inherit; font-size: .85rem; padding: 0 .6rem; color: var(--ink); background: none; border: 1px solid var(--line); border-radius: .4rem; cursor: pointer; }
.depth1 { padding-left: 1.2rem; } .depth2 { padding-left: 2.4rem; } .depth3 { padding-left: 3.6rem; }
`
