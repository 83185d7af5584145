import express from "express";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openHoldfast } from "../../../src";
import { HoldfastCli } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const cli = new HoldfastCli();
const document = readFileSync(join(__dirname, "../../../docs/embedding.md"), "utf8");

test("the command of docs/embedding.md makes a key that the router of its sample takes", async () => {
  const [, sample = ""] = /openHoldfast\(\{ store: "([^"]+)"/.exec(document) ?? [];
  const [, command = ""] = /`(?:npx )?holdfast (keys create[^`]*)`/.exec(document) ?? [];
  const store = `sqlite:${join(cli.folder, sample.replace("sqlite:", ""))}`;
  const holdfast = await openHoldfast({ store, logLevel: "silent", passInterval: 0 });
  const server = createServer(express().use("/payments-api", holdfast.router()));
  try {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { stdout, stderr } = await cli.run(command.split(/\s+/));
    expect([stdout.trim(), stderr]).toEqual([expect.stringMatching(/^hf_\S+$/), expect.anything()]);
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/payments-api/payments`, {
      headers: { Authorization: `Bearer ${stdout.trim()}` },
    });
    expect(answer.status).toBe(200);
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await holdfast.close();
  }
});

test("docs/embedding.md names the types that TypeScript needs", () => {
  for (const name of ["@types/node", "@types/express"]) expect(document).toContain(`\`${name}\``);
});
