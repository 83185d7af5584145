import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { typescriptChild } from "../../../support/children/typescript-child";

describe("a module that does not come to an end", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "holdfast-gateway-module-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  // A process of its own: without the limit nothing would keep it alive, and it would end without a word.
  const loaded = async (text: string): Promise<string> => {
    const path = join(folder, "own.mjs");
    writeFileSync(path, text);
    const { file, args } = typescriptChild("gateways/load-module.ts", path, "200");
    const { stdout } = await promisify(execFile)(file, [...args]);
    return stdout.trim();
  };

  it.each([
    [
      "in openGateway",
      "export default () => new Promise(() => {});",
      "openGateway has not come to an end within 0.2 s",
    ],
    [
      "while it is loaded",
      "await new Promise(() => {}); export default () => {};",
      "it has not been loaded within 0.2 s",
    ],
  ])("a module that does not come to an end %s is refused after a time", async (_, text, reason) => {
    expect(await loaded(text)).toBe(`GatewayModuleError: ${reason}`);
  });
});
