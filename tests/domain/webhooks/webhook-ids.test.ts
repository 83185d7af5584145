import {
  parseWebhookDeliveryId,
  parseWebhookEndpointId,
} from "../../../src/domain/webhooks/webhook-endpoint";

const ID = "0198c0de-0000-7000-8000-00000000abcd";

test.each([
  ["endpoint", parseWebhookEndpointId],
  ["delivery", parseWebhookDeliveryId],
] as const)("the id of a webhook's %s is a UUID, in letters of any size", (what, parse) => {
  expect(parse(ID.toUpperCase())).toBe(ID);
  for (const text of ["", `x${ID}`, `${ID}0`, ID.replaceAll("-", "")])
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: `invalid_webhook_${what}_id`,
        message: `A webhook ${what}'s id is a UUID.`,
      }),
    );
});
