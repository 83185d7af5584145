/** Markup, script, attributes, bidi, template syntax, and what breaks out of each. */
export const hostileTexts: readonly string[] = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<iframe src=javascript:alert(1)>",
  '<a href="javascript:alert(1)">x</a>',
  "<style>body{display:none}</style>",
  "<link rel=stylesheet href=//evil>",
  "<meta http-equiv=refresh content=0>",
  "<base href=//evil>",
  "<form action=//evil><input name=token>",
  "<!-- comment",
  "--> x",
  "<![CDATA[ x ]]>",
  '<?xml version="1.0"?>',
  "</bdi></main></body>",
  "</textarea><script>x</script>",
  "</title><script>x</script>",
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  "` onerror=alert(1) `",
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "&lt;script&gt;",
  "&#60;script&#62;",
  "&amp;lt;",
  "%3Cscript%3E",
  "\\u003cscript\\u003e",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "<%= alert(1) %>",
  "#{7*7}",
  '{"constructor":null,"type":"script"}',
  "constructor",
  "\u202egnp.exe",
  "\u2066\u2067a\u2069",
  "\u200f\u061c<b>",
  "\ufeff<script>",
  "'; DROP TABLE payments; --",
];

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** How a page has it: as text, apart from the text around it. */
export function asText(text: string): string {
  return `<bdi>${escaped(text)}</bdi>`;
}

/** Within quotes, or an area. */
export function asValue(text: string): string {
  return escaped(text);
}

/** Elements and attributes of no page of ours, and a script beside the one that each page has. */
export function intruders(page: string): readonly string[] {
  const ours = /<script src="\/console\/assets\/[\w.-]+" defer><\/script>/;
  // Nothing that is within quotes is an attribute, and every value of ours is.
  const withoutValues = page.replace(ours, "").replace(/="[^"]*"/g, "");
  return withoutValues.match(/<(?:script|img|iframe|style|base|b|!--)\b|<[a-z][^>]*\son\w+/gi) ?? [];
}
