/** The story of a payment: quiet where all went well, loud where it did not. */
export const story = `.story { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.9rem; }
.operation { border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; }
.operation.good { border-left-color: var(--good); }
.operation.bad { border-left-color: var(--bad); background: var(--bad-ground); }
.operation.wait { border-left-color: var(--wait); }
.operation > header { display: flex; flex-wrap: wrap; gap: 0.4rem 0.9rem; align-items: center; }
.operation > header .took { margin-left: auto; color: var(--soft); font-size: 0.87rem; }
.operation.bad .help, .operation.bad .took, .operation.bad dt, .operation.bad .events time, .operation.bad .none { color: var(--ink); }
.track { width: 100%; height: 14px; display: block; margin: 0.6rem 0; }
.track .rail { fill: var(--plain-ground); }
.track .bar { fill: var(--soft); }
.track .bar.good { fill: var(--good); }
.track .bar.bad { fill: var(--bad); }
.track .bar.wait { fill: var(--wait); }
.events { list-style: none; margin: 0.25rem 0 0; padding: 0; display: grid; gap: 0.35rem; font-size: 0.92rem; }
.events > li { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0.75rem; }
.events time { color: var(--soft); font-variant-numeric: tabular-nums; }
.events .why { display: block; color: var(--soft); }
.operation.bad .events .why { color: var(--ink); }
.story ~ h3 { margin-top: 1.25rem; }
.events strong { font-weight: 600; }
.events .loud { color: var(--bad); }
@media (max-width: 40rem) {
  .events > li { grid-template-columns: 1fr; gap: 0; }
  .operation > header .took { margin-left: 0; }
}
`;
