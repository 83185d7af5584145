import { createConfig, lintFromString } from "@redocly/openapi-core";
import { json } from "node:stream/consumers";

// Reads documents, prints what Redocly's recommended rules find in each. A process of its own: the linter has ES modules only.
const config = await createConfig({ extends: ["recommended"] });
const found = [];
for (const document of await json(process.stdin)) {
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  found.push(
    problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer ?? ""}: ${message}`),
  );
}
console.log(JSON.stringify(found));
