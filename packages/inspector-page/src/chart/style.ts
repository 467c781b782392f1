/**
 * What a page adds to the picture's own style: how regions stand, what was taken last, and what
 * belongs to the one that is pointed at. Colours are the page's; each outcome has a shape, too.
 */
export const CHART_STYLE = `
  :host { display: block; }
  svg.picture { display: block; --ground: transparent; }
  .region { cursor: pointer; }
  .edge { pointer-events: none; }
  .region:focus { outline: none; }
  .region:focus-visible > rect { stroke: var(--focus, Highlight); stroke-width: 3; }
  .region:hover > rect { stroke-width: 2; }
  .state > rect, .edge path { transition: stroke 200ms, fill 200ms, stroke-width 200ms, opacity 200ms; }
  .edge.taken:not(.latest) [class^="line"] { stroke-width: 1.75; stroke: var(--accent); stroke-dasharray: none; }
  .edge.latest [class^="line"] { stroke-width: 3.5; stroke: var(--accent); }
  .edge.taken [class^="head"] { fill: var(--accent); }
  .region.waiting > rect { stroke: var(--edge); }
  .region.working > rect, .state.active > rect { fill: var(--accent-ground); stroke: var(--accent); stroke-width: 2; }
  .region.ok > rect { fill: var(--good-ground); stroke: var(--good); }
  .region.failed > rect { fill: var(--bad-ground); stroke: var(--bad); stroke-width: 2; stroke-dasharray: 2 2; }
  .region.cut > rect { fill: var(--cut-ground); stroke: var(--cut); stroke-width: 2; stroke-dasharray: 7 3; }
  .region.skipped > rect { fill: var(--sunken); stroke: var(--muted); stroke-dasharray: 1 3; }
  .state.active.waiting > rect { fill: none; stroke: var(--edge); stroke-width: 1; }
  .state.active.ok > rect { fill: var(--good-ground); stroke: var(--good); stroke-width: 1; }
  .state.active.failed > rect { fill: var(--bad-ground); stroke: var(--bad); }
  .state.active.cut > rect { fill: var(--cut-ground); stroke: var(--cut); }
  .state.active.skipped > rect { fill: var(--sunken); stroke: var(--muted); }
  .badge { pointer-events: none; display: none; color: var(--muted); }
  .badge circle.ground { fill: var(--panel, Canvas); stroke: currentColor; }
  .badge .line { fill: none; stroke: currentColor; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
  .badge .fill { fill: currentColor; stroke: none; }
  .badge.working, .badge.ok, .badge.failed, .badge.cut, .badge.skipped { display: inline; }
  .badge.working { color: var(--accent); }
  .badge.ok { color: var(--good); }
  .badge.failed { color: var(--bad); }
  .badge.cut { color: var(--cut); }
  .relating .state:not(.related), .relating .edge:not(.related) { opacity: 0.28; }
  .relating .edge.related [class^="line"] { stroke-width: 2.5; }
  .relating .badge { opacity: 0.5; }
  @media (prefers-reduced-motion: reduce) { .state > rect, .edge path { transition: none; } }
`
