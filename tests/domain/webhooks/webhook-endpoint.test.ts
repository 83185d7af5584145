import { parseMerchantId } from "../../../src/domain/identifiers";
import { WebhookError } from "../../../src/domain/webhooks/errors";
import { failingAfter, isToBeDisabled, QUIET_MS, wants } from "../../../src/domain/webhooks/webhook-endpoint";

const HOUR = 3_600_000;
const at = (ms: number): Date => new Date(Date.UTC(2026, 2, 4) + ms);

test("an endpoint is told of its own merchant's events, of all types or of those that it wants", () => {
  const acme = parseMerchantId("acme");
  const event = { merchant: acme, type: "payment.captured" };
  const told = (types: readonly string[] | null, merchant = acme) => wants({ merchant, types }, event);
  expect([told(null), told(["payment.voided", "payment.captured"])]).toEqual([true, true]);
  expect([told([]), told(["payment.voided"])]).toEqual([false, false]);
  const other = parseMerchantId("other");
  expect([told(null, other), told(["payment.captured"], other)]).toEqual([false, false]);
});

test("an endpoint fails since its first failure, and anew after a silence of more than two days", () => {
  const first = failingAfter(null, at(0));
  expect(first).toEqual({ since: at(0), last: at(0) });
  const next = failingAfter(first, at(48 * HOUR));
  expect(next).toEqual({ since: at(0), last: at(48 * HOUR) });
  const anew = at(48 * HOUR + QUIET_MS + 1);
  expect(failingAfter(next, anew)).toEqual({ since: anew, last: anew });
  expect(QUIET_MS).toBe(48 * HOUR);
});

test("an endpoint is disabled after five days of nothing but failures", () => {
  expect(isToBeDisabled({ since: at(0), last: at(5 * 24 * HOUR - 1) })).toBe(false);
  expect(isToBeDisabled({ since: at(0), last: at(5 * 24 * HOUR) })).toBe(true);
});

test("a refusal about webhooks is told from others by its name and its code", () => {
  expect(new WebhookError("webhook_endpoint_not_found", "There is none.")).toMatchObject({
    name: "WebhookError",
    code: "webhook_endpoint_not_found",
    message: "There is none.",
  });
});
