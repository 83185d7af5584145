/** Forms and what is clicked. Nothing is smaller than a finger. */
export const controls = `button, .button {
  font: inherit; font-weight: 600; border-radius: 6px; border: 1px solid transparent; padding: 0.45rem 0.95rem; min-height: 2.4rem;
  cursor: pointer; background: var(--accent); color: var(--on-accent); text-decoration: none; display: inline-flex; align-items: center;
}
button:hover, .button:hover { filter: brightness(1.08); }
button.danger { background: var(--bad); color: var(--surface); }
button.quiet, .button { background: transparent; color: var(--accent); border-color: var(--line); }
button.quiet:hover, .button:hover { background: var(--sunken); filter: none; }
button[aria-disabled] { cursor: progress; filter: saturate(0.4); }
form.action { display: flex; flex-direction: column; gap: 0.75rem; align-items: flex-start; margin: 0; }
form.action > .field { width: 100%; max-width: 34rem; }
form.row, form.filters { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: flex-end; margin: 0; }
form.filters { margin-bottom: 1.25rem; }
form.filters .wide { flex: 1 1 20rem; }
.field label, legend { display: block; font-size: 0.87rem; font-weight: 600; margin-bottom: 0.2rem; padding: 0; }
input, select, textarea {
  font: inherit; width: 100%; min-height: 2.4rem; padding: 0.4rem 0.6rem; border-radius: 6px; border: 1px solid var(--soft);
  background: var(--surface); color: var(--ink);
}
textarea { min-height: 6.5rem; resize: vertical; }
input[type="radio"], input[type="checkbox"] { width: 1.15rem; height: 1.15rem; min-height: 0; margin: 0.15rem 0 0; flex: none; accent-color: var(--accent); }
fieldset { border: 0; padding: 0; margin: 0; width: 100%; display: grid; gap: 0.5rem; }
.option { display: flex; gap: 0.6rem; align-items: flex-start; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; font-weight: 400; }
.option:has(:checked) { border-color: var(--accent); background: var(--sunken); }
.option small { display: block; color: var(--soft); font-size: 0.87rem; }
details.confirm { border: 1px solid var(--line); border-radius: 6px; margin-bottom: 0.6rem; }
details.confirm > summary { cursor: pointer; padding: 0.5rem 0.8rem; font-weight: 600; color: var(--accent); }
details.confirm > div { padding: 0.2rem 0.8rem 0.8rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: flex-end; }
.secret { display: block; padding: 0.8rem; background: var(--sunken); border-radius: 6px; font-size: 1rem; user-select: all; color: var(--ink); margin-bottom: 0.75rem; }
.narrow { max-width: 30rem; margin: 4vh auto 0; }
`;
