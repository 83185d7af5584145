import { createConfig, lintFromString } from "@redocly/openapi-core";
import { text } from "node:stream/consumers";

// Reads a document, prints what Redocly's recommended rules find in it. A process of its own: the linter has ES modules only.
const config = await createConfig({ extends: ["recommended"] });
const problems = await lintFromString({ source: await text(process.stdin), config });
console.log(
  JSON.stringify(
    problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer ?? ""}: ${message}`),
  ),
);
