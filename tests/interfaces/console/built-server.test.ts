import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConsoleBrowser } from "../../support/console/console-world";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";

jest.setTimeout(240_000);

test("a session of the console outlives a restart of the server, and ends with its key", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-console-"));
  const main = await startedProgram();
  const store = ["--store", "sqlite:./holdfast.db"];
  const command = async (...args: string[]) => {
    const { status, stdout, stderr } = await new HoldfastProcess([main, ...args, ...store], { cwd }).ended;
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const running: HoldfastProcess[] = [];
  const serving = async () => {
    const options = ["--port", "0", "--shutdown-delay", "0", "--sandbox-limit", "0", "--log-level", "error"];
    const program = new HoldfastProcess([main, "serve", ...options, ...store], { cwd });
    running.push(program);
    return { program, url: await program.url() };
  };
  try {
    const secret = await command("keys", "create", "--merchant", "acme", "--operator");
    const before = await serving();
    const first = new ConsoleBrowser(before.url);
    await first.submit("/console/sign-in", "/console/sign-in", { key: secret });
    expect((await first.get("/console/keys")).status).toBe(200);
    await before.program.end("SIGTERM");

    const after = await serving();
    const second = new ConsoleBrowser(after.url);
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
    const shown = await second.get("/console/keys");
    expect(shown.status).toBe(200);
    // Signing in was a use of the key.
    const [key] = JSON.parse(await command("keys", "list", "--json")) as [{ id: string; lastUsedAt: string }];
    expect(Date.parse(key.lastUsedAt)).toBeGreaterThan(Date.now() - 240_000);
    await command("keys", "revoke", key.id);
    expect((await second.get("/console/keys")).headers.get("location")).toMatch(/^\/console\/sign-in/);
    await after.program.end("SIGTERM");
  } finally {
    // Of a test that failed in between, too.
    await Promise.all(running.map((program) => program.end("SIGKILL")));
    rmSync(cwd, { recursive: true });
  }
});
