// Loaded into a server before it starts (`node -r`): it is told of nothing, and does everything else.
const { join } = require("node:path");

const { publications } = require(
  join(__dirname, "../../dist/application/public-events/which-events-are-public.js"),
);
for (const type of Object.keys(publications)) publications[type] = null;
