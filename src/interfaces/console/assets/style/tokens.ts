/** Colours keep a contrast of 4.5 to 1 on every surface that they stand on, in both schemes. */
export const tokens = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8;
  --surface: #ffffff;
  --sunken: #eef0f4;
  --line: #d9dde5;
  --ink: #171b24;
  --soft: #515b6e;
  --accent: #2450b8;
  --on-accent: #ffffff;
  --good: #17653a;
  --good-ground: #e3f4e9;
  --bad: #a3211b;
  --bad-ground: #fdeae8;
  --wait: #7a4b00;
  --wait-ground: #fdf1d8;
  --plain-ground: #e8ebf1;
  --shadow: 0 1px 2px rgb(20 28 45 / 8%);
  --space: 1rem;
  --round: 8px;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  font-size: 15px;
  line-height: 1.5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11141a;
    --surface: #191d25;
    --sunken: #222731;
    --line: #333a47;
    --ink: #e8ebf1;
    --soft: #a7b0c0;
    --accent: #8fb0ff;
    --on-accent: #0e1422;
    --good: #7fd6a0;
    --good-ground: #153323;
    --bad: #ff9d95;
    --bad-ground: #3d1917;
    --wait: #f2c26b;
    --wait-ground: #37290d;
    --plain-ground: #2a303c;
    --shadow: none;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; letter-spacing: -0.01em; font-weight: 650; }
h2 { font-size: 1rem; margin: 0 0 0.75rem; font-weight: 650; }
h3 { font-size: 0.95rem; margin: 0; font-weight: 650; }
p { margin: 0 0 0.75rem; max-width: 70ch; }
bdi { unicode-bidi: isolate; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.88em; }
.none, .help, .ago { color: var(--soft); }
.help { font-size: 0.87rem; margin: 0.25rem 0 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
