/** What every page has around its content. */
export const frame = `.skip { position: absolute; left: 1rem; top: -4rem; background: var(--surface); padding: 0.5rem 1rem; z-index: 2; }
.skip:focus { top: 0.5rem; }
.top {
  display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1.5rem;
  padding: 0.5rem max(1rem, calc((100vw - 76rem) / 2));
  background: var(--surface); border-bottom: 1px solid var(--line);
}
.brand { display: inline-flex; align-items: center; gap: 0.5rem; font-weight: 700; color: var(--ink); text-decoration: none; }
.mark { width: 1.25rem; height: 1.25rem; background: url(/console/assets/icon.svg) center / contain no-repeat; }
.top nav { flex: 1 1 auto; min-width: 0; }
.top ul { display: flex; flex-wrap: wrap; gap: 0 0.25rem; list-style: none; margin: 0; padding: 0; }
.top nav a { display: block; padding: 0.5rem 0.65rem; border-radius: 6px; color: var(--soft); text-decoration: none; font-weight: 500; }
.top nav a:hover { background: var(--sunken); color: var(--ink); }
.top nav a[aria-current] { color: var(--accent); background: var(--sunken); }
.who { margin: 0; display: flex; align-items: center; gap: 0.75rem; font-size: 0.87rem; color: var(--soft); }
main { padding: 1.5rem max(1rem, calc((100vw - 76rem) / 2)) 3rem; min-height: 70vh; }
footer { padding: 1rem max(1rem, calc((100vw - 76rem) / 2)); color: var(--soft); font-size: 0.87rem; border-top: 1px solid var(--line); }
footer p { margin: 0; }
.heading { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; margin-bottom: 1.25rem; }
.heading .help { margin: 0; }
.lead { color: var(--soft); margin-top: -0.75rem; margin-bottom: 1.25rem; }
.card {
  background: var(--surface); border: 1px solid var(--line); border-radius: var(--round);
  box-shadow: var(--shadow); padding: 1.1rem 1.25rem; margin-bottom: 1.25rem;
}
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 0 1.25rem; align-items: start; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); gap: 1rem; margin-bottom: 1.25rem; }
.tile {
  background: var(--surface); border: 1px solid var(--line); border-radius: var(--round); box-shadow: var(--shadow);
  padding: 0.9rem 1.1rem; display: block; color: inherit; text-decoration: none; border-left: 4px solid var(--line);
}
a.tile:hover { border-color: var(--accent); }
.tile.bad { border-left-color: var(--bad); }
.tile.good { border-left-color: var(--good); }
.tile.wait { border-left-color: var(--wait); }
.tile strong { display: block; font-size: 1.6rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 0.87rem; }
.notice { border-radius: var(--round); padding: 0.8rem 1.1rem; margin-bottom: 1.25rem; border-left: 4px solid; }
.notice > :last-child { margin-bottom: 0; }
.notice.good { background: var(--good-ground); border-color: var(--good); color: var(--good); }
.notice.bad { background: var(--bad-ground); border-color: var(--bad); color: var(--bad); }
.notice.wait { background: var(--wait-ground); border-color: var(--wait); color: var(--wait); }
.notice a { color: inherit; }
.badge {
  display: inline-block; border-radius: 1rem; padding: 0.1rem 0.6rem; font-size: 0.82rem; font-weight: 600;
  background: var(--plain-ground); color: var(--ink); white-space: nowrap;
}
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.wait { background: var(--wait-ground); color: var(--wait); }
.empty { color: var(--soft); padding: 1.5rem 1rem; margin: 0; text-align: center; max-width: none; background: var(--sunken); border-radius: 6px; }
.chart { width: 100%; height: 64px; display: block; }
.chart rect { fill: var(--accent); }
.chart.bad rect { fill: var(--bad); }
.chart line { stroke: var(--line); stroke-width: 1; }
@media (max-width: 40rem) {
  main { padding-top: 1rem; }
  .card { padding: 0.9rem 0.9rem; }
  .top nav { order: 3; flex-basis: 100%; }
  .who { margin-left: auto; }
}
`;
