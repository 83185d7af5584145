import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { projectRoot } from "../../architecture/planted-project";
import { testAtFullSize } from "../../support/servers/servers";

testAtFullSize("the client's types are those of the OpenAPI document (npm run client:types)", () => {
  const folder = join(projectRoot, "src", "interfaces", "client", "generated");
  const script =
    "require('./scripts/client-types').clientTypes().then((f) => console.log(JSON.stringify(f)))";
  const written = execFileSync(process.execPath, ["-r", "esbuild-register", "-e", script], {
    cwd: projectRoot,
    encoding: "utf8",
  });
  const files = JSON.parse(written) as Record<string, string>;
  expect(Object.keys(files)).toEqual(["schemas.ts", "operations.ts"]);
  for (const [name, text] of Object.entries(files))
    expect(readFileSync(join(folder, name), "utf8")).toBe(text);
});
