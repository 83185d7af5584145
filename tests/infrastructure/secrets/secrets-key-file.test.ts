import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { secretsKeysInFile } from "../../../src/infrastructure/secrets/secrets-key-file";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

describe("the file with the key of secrets", () => {
  const directory = temporaryDirectory();
  const file = () => join(directory.path, "holdfast.secrets-key");

  it("is made once, and the same key is read ever after", () => {
    const [made] = secretsKeysInFile(file());
    expect(secretsKeysInFile(file())).toEqual([made]);
    expect(readdirSync(directory.path)).toEqual(["holdfast.secrets-key"]);
  });

  it("is not made where secrets are stored already: what was lost has to come back", () => {
    expect(() => secretsKeysInFile(file(), { mayBeMade: false })).toThrow("restore this file");
    expect(readdirSync(directory.path)).toEqual([]);
    const [made] = secretsKeysInFile(file());
    expect(secretsKeysInFile(file(), { mayBeMade: false })).toEqual([made]);
  });

  it("may be read by its owner alone", () => {
    secretsKeysInFile(file());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it("is refused in words when others may read it", () => {
    secretsKeysInFile(file());
    chmodSync(file(), 0o640);
    expect(() => secretsKeysInFile(file())).toThrow("chmod 600");
  });

  it("is refused in words when no key is in it, and left as it is", () => {
    writeFileSync(file(), "not a key\n", { mode: 0o600 });
    expect(() => secretsKeysInFile(file())).toThrow("has to be 32 bytes");
    expect(statSync(file()).size).toBe(10);
  });

  it("is refused in words where it cannot be made", () => {
    expect(() => secretsKeysInFile(join(directory.path, "missing", "key"))).toThrow("HOLDFAST_SECRETS_KEY");
    mkdirSync(join(directory.path, "folder"));
    expect(() => secretsKeysInFile(join(directory.path, "folder"))).toThrow();
  });
});
