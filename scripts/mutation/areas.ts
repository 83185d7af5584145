/** What has to be tested so well that few mistakes in it could go unnoticed, and the tests that can notice one in this process. */
export interface Area {
  readonly name: string;
  /** Files, or folders with all that is below them. */
  readonly sources: readonly string[];
  /** What begins so is not of the area: it needs a server or a process to be tested. */
  readonly without?: readonly string[];
  readonly tests: readonly string[];
}

const LOCKING = "src/infrastructure/locking";
const PAYMENTS = [
  ...["answers", "customer-action", "movements", "observation", "operations", "reviews"].map(
    (part) => `tests/application/${part}`,
  ),
  "tests/contracts/payment-repositories/in-memory",
];
const LOCKS = [
  "hold",
  "leadership",
  "lease/l",
  "lease/h",
  "lease/protocol",
  "lease/tenure",
  "line",
  "lock-bounds",
  "memory",
  "slots",
];

export const AREAS: readonly Area[] = [
  {
    name: "domain",
    sources: ["src/domain"],
    tests: ["tests/domain", ...PAYMENTS, "tests/application/accounts"],
  },
  {
    name: "operations",
    sources: ["src/application/operations", "src/application/observation", "src/application/customer-action"],
    tests: [...PAYMENTS, "tests/application/accounts", "tests/application/gateway-events"],
  },
  {
    name: "use cases",
    sources: ["src/application/use-cases"],
    tests: [
      ...PAYMENTS,
      "tests/application/a",
      "tests/application/use-cases",
      ...["capture-table", "events", "keys-and-merchants", "payment-life"].map(
        (part) => `tests/interfaces/http/${part}`,
      ),
    ],
  },
  {
    name: "locking core",
    sources: [
      "src/application/locking",
      "src/application/ports/lock-errors.ts",
      "src/application/ports/lock-timeout.ts",
      ...["hold", "leadership", "line", "memory", "slots", "lock-clock.ts", "lock-settings.ts"].map(
        (part) => `${LOCKING}/${part}`,
      ),
    ],
    tests: [
      "tests/application/locking",
      ...LOCKS.map((part) => `tests/infrastructure/locking/${part}`),
      ...["faulty", "in-memory", "lined", "memory-lease"].map(
        (part) => `tests/contracts/lock-providers/${part}`,
      ),
    ],
  },
  {
    name: "lease",
    sources: [`${LOCKING}/lease`],
    without: ["gcs", "memory", "postgres", "redis"].map((store) => `${LOCKING}/lease/${store}`),
    tests: [
      ...LOCKS.map((part) => `tests/infrastructure/locking/${part}`),
      "tests/contracts/lock-providers/memory-lease",
      "tests/contracts/lease-record-stores/memory",
      "tests/simulation/lease",
    ],
  },
  {
    name: "guards",
    sources: [
      "src/infrastructure/configuration/adapter-urls.ts",
      "src/infrastructure/configuration/addresses.ts",
      "src/infrastructure/persistence/memory/in-memory-guards.ts",
      "src/infrastructure/persistence/sqlite/sqlite-database.ts",
      "src/infrastructure/persistence/sqlite/sqlite-file.ts",
      "src/infrastructure/persistence/sqlite/sqlite-group-commit.ts",
      "src/infrastructure/persistence/sqlite/sqlite-pragmas.ts",
      "src/infrastructure/persistence/write-readiness.ts",
      "src/infrastructure/webhooks/address-rules.ts",
      "src/infrastructure/webhooks/guarded-destinations.ts",
      "src/infrastructure/webhooks/guarded-lookup.ts",
      "src/infrastructure/webhooks/ip-address.ts",
      "src/infrastructure/webhooks/webhook-url.ts",
      "src/interfaces/http/endpoints/mount.ts",
      ...["authentication", "idempotency-key", "json-body", "return-url", "validation", "wire-values"].map(
        (part) => `src/interfaces/http/requests/${part}.ts`,
      ),
      "src/interfaces/http/server/form-of-this-site.ts",
      "src/interfaces/http/server/listening-rule.ts",
    ],
    tests: [
      "tests/infrastructure/configuration",
      "tests/infrastructure/persistence/in-memory-guards",
      "tests/infrastructure/persistence/sqlite",
      "tests/infrastructure/persistence/write-readiness",
      "tests/infrastructure/webhooks",
      "tests/contracts/payment-repositories/in-memory",
      "tests/contracts/payment-repositories/sqlite",
      "tests/contracts/audit-trails/sqlite",
      ...[
        "audit",
        "endpoints",
        "gateway/gateway-events",
        "keys-and-merchants",
        "large-bodies",
        "nonsense",
        "openapi",
        "requests",
        "routes",
      ].map((part) => `tests/interfaces/http/${part}`),
    ],
  },
];
