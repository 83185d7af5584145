/** Rows become cards where the screen is narrow, and each cell says what it is. */
export const tables = `.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-size: 0.82rem; font-weight: 600; color: var(--soft); padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 0.55rem 0.75rem 0.55rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover td { background: var(--sunken); }
.number { text-align: right; }
td.number { white-space: nowrap; }
td form, td details { margin: 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: 0.75rem 1.25rem; margin: 0; }
.facts dt { font-size: 0.82rem; color: var(--soft); }
.facts dd { margin: 0; }
.pager { display: flex; gap: 0.5rem; margin-top: 1rem; }
@media (max-width: 40rem) {
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border: 1px solid var(--line); border-radius: 6px; padding: 0.4rem 0.75rem; margin-bottom: 0.75rem; }
  td { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: 0.5rem; border: 0; padding: 0.25rem 0; }
  td::before { content: attr(data-label); color: var(--soft); font-size: 0.82rem; }
  .number, td.number { text-align: left; white-space: normal; }
  tbody tr:hover td { background: none; }
}
`;
