import { randomBytes, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { SECRET_BYTES, signedHeaders, webhookSecret } from "../../../src/application/webhooks/sign-webhook";

const secret = () => webhookSecret(randomBytes(SECRET_BYTES));
const body = JSON.stringify({ id: "1", type: "payment.captured", data: { reference: "Grüße, 東京 🏦" } });
const message = () => ({ id: randomUUID(), at: new Date(), body });

describe("the signature of a webhook", () => {
  it("is one that the official package verifies", () => {
    const ours = secret();
    expect(new Webhook(ours).verify(body, signedHeaders(message(), [ours]))).toEqual(JSON.parse(body));
  });

  it("is the one that the official package makes", () => {
    const ours = secret();
    const { id, at } = message();
    expect(signedHeaders({ id, at, body }, [ours])["webhook-signature"]).toBe(
      new Webhook(ours).sign(id, at, body),
    );
  });

  it("is verified by each of two secrets while one takes over from the other, and by no third", () => {
    const [before, after, stranger] = [secret(), secret(), secret()];
    const headers = signedHeaders(message(), [after, before]);
    for (const one of [before, after]) expect(() => new Webhook(one).verify(body, headers)).not.toThrow();
    expect(() => new Webhook(stranger).verify(body, headers)).toThrow("No matching signature");
  });

  it.each([
    ["body", (headers: Record<string, string>) => ({ headers, body: `${body} ` })],
    ["id", (headers: Record<string, string>) => ({ headers: { ...headers, "webhook-id": "2" }, body })],
    [
      "time",
      (headers: Record<string, string>) => ({
        headers: { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 1) },
        body,
      }),
    ],
  ])("the signature of a webhook covers the %s", (_what, changed) => {
    const ours = secret();
    const { headers, body: sent } = changed({ ...signedHeaders(message(), [ours]) });
    expect(() => new Webhook(ours).verify(sent, headers)).toThrow("No matching signature");
  });

  it("has secrets of 32 bytes behind whsec_", () => {
    const made = secret();
    expect(made).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made).not.toBe(secret());
  });
});
