import { Webhook } from "standardwebhooks";
import { verifyWebhook, type ReceivedHeaders, type WebhookVerificationError } from "../../../src/client";

const SECRET = `whsec_${Buffer.from("a secret of 24 characters").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("another secret, as long").toString("base64")}`;
const now = new Date("2026-01-01T00:00:00Z");
const body = JSON.stringify({ id: "evt_1", type: "payment.captured", data: { ä: "€" } });

/** As another library signs it. */
const headersBy = (secret: string, text = body): Record<string, string> => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": String(now.getTime() / 1_000),
  "webhook-signature": new Webhook(secret).sign("evt_1", now, text),
});
const codeOf = (headers: ReceivedHeaders, text: string | Uint8Array = body, at = now): string => {
  try {
    verifyWebhook({ body: text, headers }, { secret: SECRET, now: at });
    return "genuine";
  } catch (error) {
    return (error as WebhookVerificationError).code;
  }
};

describe("a webhook", () => {
  test.each([
    ["as text with plain headers", body, headersBy(SECRET)],
    ["as bytes with headers of fetch", Buffer.from(body), new Headers(headersBy(SECRET))],
    ["signed with two secrets", body, both()],
  ])("is genuine %s", (_, text, headers) => {
    expect(verifyWebhook({ body: text, headers }, { secret: SECRET, now })).toMatchObject({ id: "evt_1" });
  });

  test("is genuine by either of two secrets while one is being rotated", () => {
    const received = { body, headers: headersBy(OTHER) };
    expect(verifyWebhook(received, { secret: [SECRET, OTHER], now })).toMatchObject({ id: "evt_1" });
  });

  test("is refused when anything of it is another's", () => {
    expect(codeOf(headersBy(OTHER))).toBe("signature_mismatch");
    expect(codeOf(headersBy(SECRET), body.replace("captured", "refunded"))).toBe("signature_mismatch");
    expect(codeOf({ ...headersBy(SECRET), "webhook-id": "evt_2" })).toBe("signature_mismatch");
    expect(codeOf({ ...headersBy(SECRET), "webhook-signature": "v1,AAAA v2,x" })).toBe("signature_mismatch");
    expect(codeOf({})).toBe("headers_missing");
    expect(codeOf(headersBy(SECRET, "no json"), "no json")).toBe("malformed_body");
  });

  test.each(["", "whsec_", "whsec_AAAA", "!!!"])(
    "is verified with no secret that anybody could have: %j",
    (secret) => {
      const empty = () => verifyWebhook({ body, headers: headersBy(SECRET) }, { secret, now });
      expect(empty).toThrow(TypeError);
    },
  );

  test.each([{ id: "evt_1" }, null, undefined, 7, [1]])(
    "that was parsed is refused in words: %j",
    (parsed) => {
      const given = { body: parsed as unknown as string, headers: headersBy(SECRET) };
      expect(() => verifyWebhook(given, { secret: SECRET, now })).toThrow(
        expect.objectContaining({
          name: "WebhookVerificationError",
          code: "body_not_raw",
          message: expect.stringContaining("give the raw bytes"),
        }),
      );
    },
  );

  test.each([undefined, null, "", "whsec_", "whsec_undefined"])(
    "is verified by the secret that is one, beside one that is not set: %p",
    (unset) => {
      const odd = unset as string;
      for (const secret of [
        [odd, SECRET],
        [SECRET, odd],
      ]) {
        const received = { body, headers: headersBy(SECRET) };
        expect(verifyWebhook(received, { secret, now })).toMatchObject({ id: "evt_1" });
        expect(() => verifyWebhook({ body, headers: headersBy(OTHER) }, { secret, now })).toThrow(
          "1 of the secrets is not set or too short, and was not tried",
        );
      }
    },
  );

  test.each([[[]], [[undefined, ""]], [undefined], [7]])(
    "is verified with one secret at least: %p",
    (given) => {
      const secret = given as unknown as string[];
      expect(() => verifyWebhook({ body, headers: headersBy(SECRET) }, { secret, now })).toThrow(
        "the secret of a webhook endpoint is whsec_",
      );
    },
  );

  test.each(["null", "[]", "7", "{}", '{"id":"evt_1"}', '{"id":"evt_1","type":"a","data":null}'])(
    "is none where what was signed is no event: %s",
    (text) => expect(codeOf(headersBy(SECRET, text), text)).toBe("malformed_body"),
  );

  test("without any headers is refused", () => {
    expect(codeOf(undefined as unknown as ReceivedHeaders)).toBe("headers_missing");
  });

  test.each([-301, 301])("is refused %d seconds from now", (seconds) => {
    expect(codeOf(headersBy(SECRET), body, new Date(now.getTime() + seconds * 1_000))).toBe(
      "timestamp_out_of_tolerance",
    );
    expect(codeOf({ ...headersBy(SECRET), "webhook-timestamp": "soon" })).toBe("timestamp_out_of_tolerance");
  });
});

function both(): Record<string, string> {
  const [first, second] = [headersBy(OTHER), headersBy(SECRET)];
  return {
    ...first,
    "webhook-signature": `${first["webhook-signature"]} ${second["webhook-signature"]}`,
  };
}
