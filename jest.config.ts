/** @jest-config-loader esbuild-register */
import type { Config } from "jest";

// inversify ships ES modules only, so Jest has to compile it; nothing else in node_modules needs that.
module.exports = {
  testEnvironment: "node",
  roots: ["<rootDir>/tests"],
  testMatch: ["**/*.test.ts"],
  transform: {
    "^.+\\.ts$": ["ts-jest", {}],
    "node_modules/.+\\.m?js$": [
      "ts-jest",
      {
        tsconfig: {
          allowJs: true,
          isolatedModules: true,
          module: "commonjs",
          moduleResolution: "node10",
          ignoreDeprecations: "6.0",
        },
      },
    ],
  },
  transformIgnorePatterns: ["/node_modules/(?!(inversify|@inversifyjs)/)"],
  globalSetup: "<rootDir>/tests/support/servers/global-setup.ts",
  setupFiles: ["<rootDir>/tests/support/fakes/forget-async-storages.ts"],
  reporters: ["default", "<rootDir>/tests/support/servers/skipped-blocks-reporter.cjs"],
  // Half of the tests wait for processes and servers: a core that is kept free for the runner would be idle.
  maxWorkers: "100%",
  // A test that hangs has to end; a busy machine must not make a slow one fail.
  testTimeout: 60_000,
  clearMocks: true,
} satisfies Config;
