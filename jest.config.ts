/** @jest-config-loader esbuild-register */
import type { Config } from "jest";
import { availableParallelism } from "node:os";

module.exports = {
  testEnvironment: "<rootDir>/tests/support/jest/environment.cjs",
  runtime: "<rootDir>/tests/support/jest/runtime.cjs",
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  transform: { "\\.ts$": ["ts-jest", {}] },
  runner: "<rootDir>/tests/support/jest/two-pools.cjs",
  testSequencer: "<rootDir>/tests/support/jest/heavy-first.cjs",
  globalSetup: "<rootDir>/tests/support/jest/global-setup.ts",
  setupFiles: ["<rootDir>/tests/support/jest/forget-async-storages.ts"],
  reporters: ["default", "<rootDir>/tests/support/jest/skipped-blocks-reporter.cjs"],
  // Tests of leases and processes wait for most of their time: with as many workers as cores, cores would be idle. At full
  // size there are fewer of them, because each suite with servers takes some dozens of a server's hundred connections.
  maxWorkers:
    process.env["HOLDFAST_TEST_SIZE"] === "full"
      ? Math.min(availableParallelism() + 1, 6)
      : availableParallelism() + 9,
  // A test that hangs has to end; a busy machine must not make a slow one fail.
  testTimeout: 60_000,
  clearMocks: true,
} satisfies Config;
