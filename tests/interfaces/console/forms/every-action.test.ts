import type { Browser } from "playwright-core";
import { allForms } from "../../../support/console/all-forms";
import { ConsoleServer, madeKey } from "../../../support/console/console-server";
import { Keyboard, Pointer, type Hand } from "../../../support/console/hands";
import { openBrowser, WatchedPage } from "../../../support/console/watched-page";
import { describeWithBrowser } from "../../../support/servers/servers";
import { sample } from "../../../support/test-size";

jest.setTimeout(240_000);

interface Action {
  /** What it sends a form to. */
  readonly route: string;
  /** Makes what is acted upon, and resolves with the page to begin on. */
  readonly begin: () => Promise<string>;
  readonly steps: (hand: Hand) => Promise<void>;
  /** What the page says when it is done. */
  readonly says: string | RegExp;
}

let server: ConsoleServer;

const payments = (
  movement: string,
  begin: () => Promise<string>,
  steps: Action["steps"],
  says: string,
): Action => ({
  route: `/payments/:paymentId/${movement}`,
  begin: async () => `/console/payments/${await begin()}`,
  steps,
  says,
});
const webhooks = (action: string, steps: Action["steps"], says: Action["says"]): Action => ({
  route: `/webhooks/:endpointId/${action}`,
  begin: async () => `/console/webhooks/${(await server.endpoint(server.acme)).endpoint}`,
  steps,
  says,
});
const sandboxes = (action: string, steps: Action["steps"], says: string): Action => ({
  route: `/sandboxes/:sandboxId/${action}`,
  begin: async () => `/console/sandboxes/${(await server.sandbox(server.acme)).sandbox}`,
  steps,
  says,
});

const actions: readonly Action[] = [
  payments(
    "capture",
    () => server.authorized(server.acme),
    async (hand) => {
      await hand.press("Capture…");
      await hand.press("Capture 25.00 EUR");
    },
    "Captured 25.00 EUR.",
  ),
  payments(
    "void",
    () => server.authorized(server.acme),
    async (hand) => {
      await hand.press("Void…");
      await hand.press("Void 25.00 EUR");
    },
    "Voided 25.00 EUR.",
  ),
  payments(
    "refund",
    () => server.captured(server.acme),
    async (hand) => {
      await hand.fill("Amount to refund", "5.00");
      await hand.press("Refund…");
      await hand.press("Refund 5.00 EUR");
    },
    "Refunded 5.00 EUR.",
  ),
  payments(
    "observe",
    () => server.captured(server.acme),
    async (hand) => {
      await hand.press("Ask the gateway…");
      await hand.press("Ask the gateway");
    },
    "Nothing contradicts what is recorded",
  ),
  {
    route: "/reviews/:operationId",
    begin: async () => `/console/reviews/${await server.operationInReview(server.acme)}`,
    steps: async (hand) => {
      await hand.choose("Not decided at the gateway either");
      await hand.fill("Evidence", "The dashboard shows it as open.");
      await hand.press("Record this verdict");
    },
    says: "Evidence: The dashboard shows it as open.",
  },
  webhooks(
    "test",
    async (hand) => {
      await hand.open("Send a test event");
      await hand.press("Send the test event");
    },
    "A test event is on its way",
  ),
  webhooks("redeliver", (hand) => hand.press("Redeliver"), "made once more"),
  webhooks(
    "replay",
    async (hand) => {
      await hand.open("Replay");
      await hand.fill("From (UTC)", "2026-01-01T00:00:00");
      await hand.fill("To (UTC)", "2026-01-02T00:00:00");
      await hand.press("Replay these events");
    },
    "delivered once more",
  ),
  webhooks(
    "rotate",
    async (hand) => {
      await hand.open("Rotate the secret");
      await hand.press("Rotate the secret");
    },
    /^whsec_/,
  ),
  webhooks(
    "disable",
    async (hand) => {
      await hand.open("Disable");
      await hand.press("Disable the endpoint");
    },
    "Nothing is sent to this endpoint from now on.",
  ),
  {
    route: "/webhooks/:endpointId/enable",
    begin: async () => {
      const { endpoint } = await server.endpoint(server.acme);
      await server.call(server.acme, "PATCH", `/webhook-endpoints/${endpoint}`, { enabled: false });
      return `/console/webhooks/${endpoint}`;
    },
    steps: async (hand) => {
      await hand.open("Enable");
      await hand.press("Enable the endpoint");
    },
    says: "The endpoint is listening again.",
  },
  {
    route: "/sandboxes",
    begin: () => Promise.resolve("/console/sandboxes"),
    steps: async (hand) => {
      await hand.open("Make a sandbox");
      await hand.press("Make a sandbox");
    },
    says: "The sandbox is ready.",
  },
  sandboxes(
    "clock",
    async (hand) => {
      await hand.open("Move the clock");
      await hand.fill("Hours", "48");
      await hand.press("Move the clock forward");
    },
    "The clock was moved.",
  ),
  sandboxes(
    "checkpoint",
    async (hand) => {
      await hand.open("Take a snapshot");
      await hand.press("Take a snapshot");
    },
    "A snapshot was taken.",
  ),
  sandboxes("start", (hand) => hand.press("Start a sandbox"), "The sandbox is ready."),
  {
    route: "/keys",
    begin: () => Promise.resolve("/console/keys"),
    steps: async (hand) => {
      await hand.open("Make a key");
      await hand.fill("Merchant", "acme");
      await hand.fill("Name", "the till");
      await hand.choose("Operator");
      await hand.press("Make the key");
    },
    says: "It acts for acme, and is an operator's key.",
  },
  {
    route: "/keys/:keyId/revoke",
    begin: async () => {
      await madeKey(server.operator.browser, "acme");
      return "/console/keys";
    },
    steps: async (hand) => {
      // The newest key stands on top, and is the one that was just made.
      await hand.open("Revoke");
      await hand.press("Revoke ");
    },
    says: "The key is revoked.",
  },
];

test("the actions that are done in a browser here are all forms that the console takes", () => {
  const ofSessions = ["/sign-in", "/sign-out"];
  expect([...actions.map(({ route }) => route), ...ofSessions].sort()).toEqual([...allForms()].sort());
});

describeWithBrowser("each action of the console in a browser", (executablePath) => {
  let browser: Browser;
  let seen: WatchedPage;
  let hand: Hand;

  beforeAll(async () => {
    server = await ConsoleServer.open();
    browser = await openBrowser(executablePath);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  describe.each([
    ["by keyboard alone", (page: WatchedPage["page"]) => new Keyboard(page), true],
    ["with JavaScript switched off", (page: WatchedPage["page"]) => new Pointer(page), false],
  ] as const)("%s", (how, handOf, javaScriptEnabled) => {
    beforeAll(async () => {
      seen = await WatchedPage.open(browser, server.url, { javaScriptEnabled });
      hand = handOf(seen.page);
      await seen.go("/console");
      await hand.fill("API key", server.operator.secret);
      await hand.press("Sign in");
      await seen.page.getByText("Waiting for a decision").waitFor();
    });
    afterAll(() => seen.close());

    // In brief, every other one, and the others the other way.
    const inTurn = sample(actions, 2, javaScriptEnabled ? 0 : 1);
    test.each(inTurn.map((action) => [action.route, action] as const))(
      `the form to %s is filled in and sent, ${how}`,
      async (_, { begin, steps, says }) => {
        await seen.go(await begin());
        await steps(hand);
        await seen.page.getByText(says).first().waitFor();
        expect(seen.complaints).toEqual([]);
      },
    );

    test(`whoever signs out is asked for a key again, ${how}`, async () => {
      await seen.go("/console");
      if (javaScriptEnabled) await hand.press("Sign out");
      else await seen.page.getByRole("button", { name: "Sign out" }).click();
      await seen.page.getByLabel("API key").waitFor();
      await seen.go("/console/payments");
      expect(seen.path).toBe("/console/sign-in?next=%2Fconsole%2Fpayments");
    });
  });
});
