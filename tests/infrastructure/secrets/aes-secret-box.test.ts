import { randomBytes } from "node:crypto";
import { SecretsKeyError } from "../../../src/application/ports/events/secret-box";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const newKey = () => randomBytes(32).toString("base64");
const boxWith = (...keys: string[]) => new AesSecretBox(() => parseSecretsKeys(keys.join(","), "the test"));

function refusal(work: () => unknown): SecretsKeyError {
  try {
    work();
  } catch (error) {
    if (error instanceof SecretsKeyError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a sealed secret", () => {
  it("opens again with its key, also in another process's box", () => {
    const key = newKey();
    expect(boxWith(key).open(boxWith(key).seal(SECRET, "row 1"), "row 1")).toBe(SECRET);
  });

  it("shows nothing of the secret, and looks different each time", () => {
    const box = boxWith(newKey());
    const [one, other] = [box.seal(SECRET, "row 1"), box.seal(SECRET, "row 1")];
    expect(one).not.toBe(other);
    for (const sealed of [one, other]) {
      expect(sealed).not.toContain(SECRET);
      expect(Buffer.from(sealed.split(".")[2]!, "base64url").toString("latin1")).not.toContain("MfKQ9");
    }
  });

  it("does not open in another row", () => {
    const box = boxWith(newKey());
    expect(refusal(() => box.open(box.seal(SECRET, "row 1"), "row 2"))).toMatchObject({
      code: "secrets_key_wrong",
      message: expect.stringContaining("moved from elsewhere"),
    });
  });

  it("does not open when a single bit of it was changed, wherever that is", () => {
    const box = boxWith(newKey());
    const [version, id, content] = box.seal(SECRET, "row 1").split(".");
    const bytes = Buffer.from(content!, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      expect(refusal(() => box.open(`${version}.${id}.${changed.toString("base64url")}`, "row 1")).code).toBe(
        "secrets_key_wrong",
      );
    }
  });

  it("says with which key it was sealed when that one is not at hand", () => {
    const sealed = boxWith(newKey()).seal(SECRET, "row 1");
    const { code, message } = refusal(() => boxWith(newKey()).open(sealed, "row 1"));
    expect(code).toBe("secrets_key_wrong");
    expect(message).toContain(sealed.split(".")[1]);
    expect(message).toContain("HOLDFAST_SECRETS_KEY");
  });

  it("survives a new key as long as the old one stands behind it", () => {
    const [old, fresh] = [newKey(), newKey()];
    const sealed = boxWith(old).seal(SECRET, "row 1");
    expect(boxWith(fresh, old).open(sealed, "row 1")).toBe(SECRET);
    expect(boxWith(fresh, old).seal(SECRET, "row 1").split(".")[1]).not.toBe(sealed.split(".")[1]);
  });

  it.each(["", "tooshort", `${newKey()}x`, "z".repeat(64), `${newKey()},`])(
    "needs a key of 32 bytes, which %p is not",
    (text) => {
      const { code, message } = refusal(() => boxWith(text).seal(SECRET, "row 1"));
      expect(code).toBe("secrets_key_missing");
      expect(message).toContain("32 bytes");
      expect(message).not.toContain(text === "" ? "\0" : text);
    },
  );

  it("takes a key in hexadecimal, too", () => {
    const bytes = randomBytes(32);
    const sealed = boxWith(bytes.toString("hex")).seal(SECRET, "row 1");
    expect(boxWith(bytes.toString("base64")).open(sealed, "row 1")).toBe(SECRET);
  });
});
