import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describeAtFullSize } from "../support/servers/servers";
import { plantProject, projectRoot, type PlantedProject } from "./planted-project";

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

const config = createRequire(__filename)(join(projectRoot, ".dependency-cruiser.cjs")) as {
  forbidden: { name: string }[];
};

/** One file per broken rule: where it is, what it says. Targets of the imports are planted below. */
const broken: Record<string, { path: string; text: string }> = {
  "domain-imports-only-domain": {
    path: "src/domain/clock-reader.ts",
    text: 'import type { hrtime } from "node:process"; export type Now = typeof hrtime;',
  },
  "payments-are-written-by-their-steps": {
    path: "src/application/writes-a-payment-itself.ts",
    text: 'import { recorded } from "../domain/payment/record/recorded"; export const r = recorded;',
  },
  "payments-are-restored-by-stores": {
    path: "src/application/makes-a-payment-of-facts.ts",
    text: 'import { restored } from "../domain/payment/restored"; export const r = restored;',
  },
  "application-imports-only-domain": {
    path: "src/application/knows-an-adapter.ts",
    text: 'import type { Store } from "../infrastructure/store"; export type S = Store;',
  },
  "adapters-do-not-know-interfaces": {
    path: "src/infrastructure/knows-a-route.ts",
    text: 'import { route } from "../interfaces/route"; export const r = route;',
  },
  "interfaces-do-not-know-adapters": {
    path: "src/interfaces/knows-a-store.ts",
    text: 'import type { Store } from "../infrastructure/store"; export type S = Store;',
  },
  "composition-is-used-by-main-alone": {
    path: "src/infrastructure/asks-the-container.ts",
    text: 'import { container } from "./composition/container"; export const c = container;',
  },
  "nothing-imports-the-entries": {
    path: "src/infrastructure/goes-through-the-door.ts",
    text: 'import { main } from "../main"; export const m = main;',
  },
  "container-stays-in-composition": {
    path: "src/infrastructure/injects-itself.ts",
    text: 'import { Container } from "inversify"; export const c = Container;',
  },
  "gcs-client-stays-in-its-adapter": {
    path: "src/infrastructure/loads-google.ts",
    text: 'export const load = () => import("@google-cloud/storage");',
  },
  "redis-client-stays-in-its-adapter": {
    path: "src/infrastructure/loads-ioredis.ts",
    text: 'import { Redis as Client } from "ioredis"; export const r = Client;',
  },
  "postgres-client-stays-in-its-adapter": {
    path: "src/infrastructure/loads-pg.ts",
    text: 'import type { Pool } from "pg"; export type P = Pool;',
  },
  "stripe-client-stays-in-its-adapter": {
    path: "src/infrastructure/loads-the-other-gateway.ts",
    text: 'import Client from "stripe"; export const s = Client;',
  },
  "source-does-not-import-tests": {
    path: "src/infrastructure/leans-on-a-test.ts",
    text: 'import { fake } from "../../tests/fake"; export const f = fake;',
  },
  "source-does-not-use-dev-dependencies": {
    path: "src/infrastructure/loads-a-test-tool.ts",
    text: 'import fc from "fast-check"; export const f = fc;',
  },
  "source-declares-what-it-imports": {
    path: "src/infrastructure/loads-what-another-brought.ts",
    text: 'import send from "send"; export const s = send;',
  },
  "imports-resolve": {
    path: "src/infrastructure/imports-nothing.ts",
    text: 'import { gone } from "./gone"; export const g = gone;',
  },
  "no-circles": {
    path: "src/domain/egg.ts",
    text: 'import { hen } from "./hen"; export const egg = () => hen;',
  },
  "no-orphans": { path: "src/infrastructure/left-over.ts", text: "export const leftOver = 1;" },
};

/** What must pass: the same clients and layers, used where they belong. */
const allowed: Record<string, string> = {
  "src/main.ts": `
    import { container } from "./infrastructure/composition/container";
    import { route } from "./interfaces/route";
    export const main = { container, route };`,
  "src/domain/payment.ts": 'import type { Money } from "./money"; export interface Payment { m: Money }',
  "src/domain/money.ts": 'import type { Payment } from "./payment"; export interface Money { of?: Payment }',
  "src/domain/payment/record/recorded.ts": "export const recorded = 1;",
  "src/domain/payment/settlement.ts":
    'import { recorded } from "./record/recorded"; export const settle = () => recorded;',
  "src/domain/payment/restored.ts": "export const restored = 1;",
  "src/infrastructure/persistence/rows.ts":
    'import { restored } from "../../domain/payment/restored"; export const row = () => restored;',
  "src/domain/hen.ts": 'import { egg } from "./egg"; export const hen = () => egg;',
  "src/application/capture.ts": `
    import { createHash } from "node:crypto";
    import type { Payment } from "../domain/payment";
    export const fingerprint = (p: Payment) => createHash("sha256").update(String(p.m));`,
  "src/infrastructure/store.ts": `
    import type { Payment } from "../domain/payment";
    export interface Store { find(): Payment }`,
  "src/infrastructure/persistence/postgres/pool.ts":
    'import { Pool } from "pg"; export const pool = () => new Pool();',
  "src/infrastructure/locking/redis-records.ts":
    'import { Redis } from "ioredis"; export const r = () => new Redis();',
  "src/infrastructure/locking/gcs-records.ts":
    'import { Storage } from "@google-cloud/storage"; export const s = () => new Storage();',
  "src/infrastructure/gateways/stripe-gateway.ts":
    'import Stripe from "stripe"; export const s = () => new Stripe("");',
  "src/infrastructure/composition/container.ts":
    'import { Container } from "inversify"; import "reflect-metadata"; export const container = Container;',
  "src/interfaces/route.ts": `
    import type { Request } from "express";
    import express from "express";
    import { z } from "zod";
    export const route = (_: Request) => [express, z];`,
  "tests/fake.ts": "export const fake = 1;",
};

function violationsIn(folder: string): Violation[] {
  const cruised = spawnSync(
    process.execPath,
    [
      join(projectRoot, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
      "--config",
      ".dependency-cruiser.cjs",
      "--output-type",
      "json",
      "src",
    ],
    { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  const report = JSON.parse(cruised.stdout) as { summary: { violations: Violation[] } };
  return report.summary.violations;
}

describeAtFullSize("layer rules", () => {
  let project: PlantedProject;
  let violations: Violation[];

  beforeAll(() => {
    const files = Object.fromEntries(Object.values(broken).map(({ path, text }) => [path, text]));
    project = plantProject({ ...allowed, ...files });
    violations = violationsIn(project.folder);
  }, 60_000);

  afterAll(() => project.remove());

  test("each rule has a planted violation, and each planted violation has a rule", () => {
    expect(Object.keys(broken).sort()).toEqual(config.forbidden.map((rule) => rule.name).sort());
  });

  test.each(Object.entries(broken))(
    "a planted violation of the layer rule %s is caught",
    (rule, { path }) => {
      expect(violations.filter((v) => v.rule.name === rule).map((v) => v.from)).toContain(path);
    },
  );

  test("what is allowed is not reported", () => {
    expect(violations.filter((v) => Object.keys(allowed).includes(v.from))).toEqual([]);
  });

  // `npm run check` asks the same.
  test("the project keeps its own rules", () => {
    expect(violationsIn(projectRoot)).toEqual([]);
  }, 60_000);
});
