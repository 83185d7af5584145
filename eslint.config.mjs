import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

const decorator = {
  selector: "Decorator",
  message: "How a class is made is said from outside, in src/infrastructure/composition/container.",
};
const platformData = {
  name: "Intl",
  message: "What a currency or a language is must not change with Node: see src/domain/currencies.ts.",
};
const readsTheClock = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: "Ask the Clock port.",
};

// Typed rules that guard money (a lost promise, an unhandled case), not taste: prettier has the layout.
export default defineConfig(
  {
    ignores: [
      "dist/",
      "coverage/",
      "data/",
      "node_modules/",
      "bench/node_modules/",
      "bench/build/",
      "build/",
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "@typescript-eslint/prefer-readonly": "error",
      "@typescript-eslint/return-await": ["error", "in-try-catch"],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      // A fake or an adapter may have to be async by its port without awaiting anything.
      "@typescript-eslint/require-await": "off",
      // bigint and number in messages are meant.
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },
  {
    files: ["tests/**/*.ts", "bench/**/*.ts", "examples/**/*.ts", "scripts/**/*.ts"],
    rules: {
      "no-console": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unnecessary-condition": "off",
      // Answers of a server under test arrive as `any` from supertest and JSON.parse.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", decorator],
      "no-restricted-globals": ["error", platformData],
    },
  },
  {
    // Time, randomness and surroundings come in as arguments or ports, or no test could choose them.
    files: ["src/domain/**/*.ts", "src/application/**/*.ts"],
    rules: {
      "no-restricted-globals": ["error", "process", "performance", "setInterval", platformData],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now" },
        { object: "Math", property: "random" },
        { object: "crypto", property: "randomUUID" },
      ],
      "no-restricted-syntax": ["error", decorator, readsTheClock],
    },
  },
  {
    // The command line talks to people.
    files: ["src/interfaces/cli/**/*.ts", "src/main.ts"],
    rules: { "no-console": "off" },
  },
  {
    files: ["jest.config.ts"],
    extends: [tseslint.configs.disableTypeChecked],
  },
);
