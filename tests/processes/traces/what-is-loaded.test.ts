import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { builtProgram } from "../../support/program/built-program";

jest.setTimeout(120_000);

let built: string;
beforeAll(async () => (built = dirname(await builtProgram())));

/** How many modules of OpenTelemetry a server has loaded once it is open, without those of the API, which prom-client loads. */
function loadedBy(flags: object): number {
  const source = (path: string) => JSON.stringify(join(built, "infrastructure", path));
  const script = `
    const { readConfiguration } = require(${source("configuration/configuration.js")});
    const { openApplication } = require(${source("composition/opening/open-application.js")});
    const flags = ${JSON.stringify({ store: "memory:", ...flags })};
    openApplication(readConfiguration({ flags, environment: {} }), { purpose: "serve" }).then(async ({ close }) => {
      const all = Object.keys(require.cache).filter((path) => path.includes("/@opentelemetry/"));
      console.log(all.filter((path) => !path.includes("/@opentelemetry/api/")).length);
      await close();
      process.exit();
    });`;
  const child = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return Number(child.stdout);
}

test("a server that is not traced loads nothing of OpenTelemetry's SDK, and one that is loads it", () => {
  expect(loadedBy({})).toBe(0);
  expect(loadedBy({ trace: "http://127.0.0.1:9" })).toBeGreaterThan(20);
});
