/** How a report's page looks; colours are those of the inspector's page. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ground: #f3f4f6; --panel: #fff; --rule: #d9dde3; --text: #1b1f26; --muted: #5a626e;
  --ok: #1d6b3a; --failed: #b3261e; --cut: #8a4b00; --track: #eceff3; font: 400 15px/1.45 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --ground: #0e1116; --panel: #161a21; --rule: #2c333e; --text: #e6e9ee; --muted: #9aa3b0;
  --ok: #7fd39a; --failed: #ff9d94; --cut: #f2b866; --track: #1d222b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 3rem; background: var(--ground); color: var(--text); overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.2; }
h2 { margin: 0 0 .6rem; font-size: 1.05rem; }
h3 { margin: 0 0 .2rem; font-size: 1rem; }
p { margin: .3rem 0; }
ul { margin: 0; padding-left: 1.2rem; }
.verdict { font-weight: 600; font-size: 1.1rem; }
p.ok { color: var(--text); }
.failed { color: var(--failed); }
.cut { color: var(--cut); }
section, body > main > details { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: .9rem 1rem; margin-top: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .6rem 0 0; }
dt { color: var(--muted); }
dd { margin: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--muted); }
th, td { padding: .2rem .8rem .2rem 0; vertical-align: top; overflow-wrap: break-word; }
tbody tr { border-top: 1px solid var(--rule); }
.track { position: relative; width: 45%; min-width: 12rem; padding: 0; background: linear-gradient(var(--track) 0 0) no-repeat 0 .35rem / 100% calc(100% - .7rem); }
.track + td { padding-left: .8rem; }
td:last-child { min-width: 5.5rem; }
.kind { white-space: nowrap; }
.track i { position: absolute; top: .35rem; bottom: .35rem; border-radius: 2px; background: var(--ok); }
.track i.failed { background: var(--failed); }
.track i.cut { background: repeating-linear-gradient(45deg, var(--cut) 0 5px, transparent 5px 8px); outline: 1px solid var(--cut); outline-offset: -1px; }
.track b { position: absolute; top: 0; bottom: 0; width: 2px; background: var(--cut); }
article + article { margin-top: .8rem; }
summary { cursor: pointer; color: var(--muted); }
pre { overflow-x: auto; font: .85rem/1.4 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: normal; }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; }
  /* No column is out of sight: a row takes as many lines as it needs, a bar has its own. */
  table, tbody { display: block; font-size: .9rem; }
  thead { display: none; }
  tr { display: flex; flex-wrap: wrap; gap: 0 .8rem; padding: .3rem 0; }
  td, td:last-child, .track + td { min-width: 0; padding: 0; }
  td:empty { display: none; }
  td:first-child { flex: 1 1 auto; }
  tr:has(.track) td { order: 2; }
  tr:has(.track) td:first-child, tr:has(.track) .outcome { order: 0; }
  tr:has(.track) .track { order: 1; flex: 0 0 100%; height: 1.1rem; margin: .15rem 0; background-position-y: 0; background-size: 100% 100%; }
  .track i { top: 0; bottom: 0; }
  tr:has(.track) [data-head]:not(.track)::before { content: attr(data-head) " "; color: var(--muted); }
}
@media print { body { max-width: none; background: none; } section { break-inside: avoid; } }
`
