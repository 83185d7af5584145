import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InstalledPackage } from "../support/program/installed-package";
import { testAtFullSize } from "../support/servers/servers";

jest.setTimeout(180_000);

let installed: InstalledPackage;
beforeAll(async () => (installed = await InstalledPackage.install()));
afterAll(() => installed.remove());

const shipped = (file: string): string => join(installed.project, "node_modules", "holdfast", "dist", file);

testAtFullSize(
  "The shipped program serves from one file, with a source map that names the sources, and ends when it is told to",
  async () => {
    const store = `sqlite:${join(installed.project, "data", "shipped.db")}`;
    const server = spawn(
      process.execPath,
      [
        "--trace-uncaught",
        shipped("holdfast.js"),
        "serve",
        "--store",
        store,
        "--port",
        "0",
        "--shutdown-delay",
        "0",
      ],
      { cwd: installed.project, stdio: ["ignore", "ignore", "pipe"] },
    );
    const ended = once(server, "exit");
    let log = "";
    let url: string | undefined;
    for await (const part of server.stderr.setEncoding("utf8")) {
      log += part as string;
      url = /listening on (http:\S+)/.exec(log)?.[1];
      if (url !== undefined) break;
    }
    expect(log).toContain("listening on");
    const ready = await fetch(new URL("/readyz", url));
    expect(ready.status).toBe(200);
    await ready.text();
    server.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    const { sources } = JSON.parse(readFileSync(shipped("server.js.map"), "utf8")) as { sources: string[] };
    expect(sources.some((source) => source.endsWith("src/application/operations/through-gateway.ts"))).toBe(
      true,
    );
  },
);

testAtFullSize(
  "The shipped program says the same of itself whether it is started from its modules or from one file",
  () => {
    const version = installed.node(shipped("holdfast.js"), "--version");
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(installed.node(shipped("main.js"), "--version")).toBe(version);
    expect(
      installed.node(
        "-e",
        `process.argv.push("holdfast", "--version"); require(${JSON.stringify(shipped("server.js"))}).main()`,
      ),
    ).toBe(version);
  },
);
