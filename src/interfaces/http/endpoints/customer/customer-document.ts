/** What all pages of the simulated gateway have around their content: no script, no style, nothing from elsewhere. */
export function document(content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Simulated gateway</title>
  </head>
  <body>
    <h1>Simulated gateway</h1>
    ${content}
  </body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
}
