import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { parseIdempotencyKey, type IdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { openOperationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { PaymentsWorld, secretIn } from "../../support/worlds/payments-world";

const HOUR_MS = 3_600_000;
const wanted = {
  paymentMethod: "tok_requires_action",
  returnUrl: "https://shop.example/back",
  expiresInSeconds: 7 * 86_400,
};

/** A process that dies before its n-th word with the store or the gateway, or right after it. */
class Mortal {
  words = 0;
  private isDead = false;

  constructor(
    private readonly diesAt: number,
    private readonly when: "before" | "after",
  ) {}

  of<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => this.say(() => member.apply(object, args) as unknown);
      },
    });
  }

  private async say(word: () => unknown): Promise<unknown> {
    if (!this.isDead) this.words += 1;
    if (this.words === this.diesAt && this.when === "before") this.isDead = true;
    if (this.isDead) throw new Error("the process is dead");
    const answer = await word();
    if (this.words === this.diesAt) {
      this.isDead = true;
      throw new Error("the process is dead");
    }
    return answer;
  }
}

type Customer = "confirms" | "does nothing";
interface Story {
  readonly name: string;
  readonly customer: Customer;
  readonly isVoided?: true;
  /** What the payment may be in the end, where it was begun at all. */
  readonly ends: readonly string[];
}

const stories: readonly Story[] = [
  { name: "a customer who confirms", customer: "confirms", ends: ["authorized"] },
  { name: "a customer who does nothing", customer: "does nothing", ends: ["expired"] },
  {
    name: "a void while the customer confirms",
    customer: "confirms",
    isVoided: true,
    // Where the process died before the void was begun, it is as if it had not been asked for.
    ends: ["voided", "authorized"],
  },
];

const swallow = (work: Promise<unknown>) => work.catch(() => undefined);

/** The life of one payment in a process that may die, with what its customer does in between. */
async function live(
  survivor: PaymentsWorld,
  mortal: Mortal,
  { customer, isVoided }: Story,
  idempotencyKey: IdempotencyKey,
): Promise<void> {
  const world = new PaymentsWorld({
    payments: mortal.of<PaymentRepository>(survivor.context.payments),
    gateway: mortal.of<PaymentGateway>(survivor.simulated),
  });
  await swallow(world.begin({ ...wanted, idempotencyKey }));
  const id = await survivor.context.payments.findByAuthorizeKey(survivor.merchant, idempotencyKey);
  if (id === null) return;
  if (customer === "confirms") await act(survivor, id);
  if (isVoided === true) await swallow(world.void(id, "v"));
  world.clock.advance(customer === "confirms" ? 31_000 : HOUR_MS);
  await swallow(world.reconcile());
}

async function act(world: PaymentsWorld, id: PaymentId): Promise<void> {
  const { actionUrl } = (await world.payment(id)).facts;
  await world.simulated.customerPages.decide(id, secretIn(actionUrl ?? ""), "confirm");
}

/** What other processes make of it, until nothing is open. */
async function finish(world: PaymentsWorld, id: PaymentId, { customer }: Story): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds += 1) {
    if (openOperationOf(await world.payment(id)) === undefined) return;
    // They find their page as soon as somebody knows it.
    if (customer === "confirms") await act(world, id);
    world.clock.advance(10 * 60_000);
    await world.reconcile();
  }
  throw new Error("it never came to an end");
}

describeOnEveryStore("a process that dies while a customer is waited for", (open) => {
  it.each(stories)(
    "$name: wherever the process dies, the payment ends, and holds money only if it is authorized",
    async (story) => {
      const unharmed = new Mortal(Number.POSITIVE_INFINITY, "before");
      await live(await open(), unharmed, story, parseIdempotencyKey("unharmed"));
      expect(unharmed.words).toBeGreaterThan(6);
      for (let diesAt = 1; diesAt <= unharmed.words; diesAt += 1) {
        for (const when of ["before", "after"] as const) {
          const survivor = await open();
          // Worlds of one test may share a database.
          const idempotencyKey = parseIdempotencyKey(`${when}-${diesAt}`);
          await live(survivor, new Mortal(diesAt, when), story, idempotencyKey);
          const id = await survivor.context.payments.findByAuthorizeKey(survivor.merchant, idempotencyKey);
          if (id === null) continue;
          await finish(survivor, id, story);
          const payment = await survivor.payment(id);
          const status = visibleStatus(payment);
          const { authorizationReference } = payment.facts;
          const books = await survivor.simulated.authorization(id, authorizationReference ?? "");
          expect({ diesAt, when, status, held: books?.reserved ?? 0n }).toEqual({
            diesAt,
            when,
            status: expect.stringMatching(`^(${story.ends.join("|")})$`),
            held: status === "authorized" ? 1_000n : 0n,
          });
          expect(await survivor.timesMoved(id, "authorize")).toBeLessThanOrEqual(1);
          expect(await survivor.context.payments.countInReview()).toBe(0);
        }
      }
    },
    120_000,
  );
});
