import type { InstalledPackage } from "../support/program/installed-package";

export interface Example {
  /** The name of the file, which the contract imports. */
  readonly file: string;
  readonly source: string;
  readonly contract: string;
}

/** Instead of Node's: what is tested is collected, for a driver that runs all of it. */
const COLLECTED = `
  export const bodies = [];
  export const describe = (_name, body) => body();
  export const it = (_name, _options, body) => void bodies.push(body);
`;

/** Of a body that hangs, that it fails. */
const PATIENCE_MS = 60_000;

/**
 * Which of the changed sources keep the contract nevertheless. All in one process, which tests each until something fails, and
 * all of them at the same time: most of what a contract does is to wait.
 */
export async function keptWithout(
  installed: InstalledPackage,
  { file, source, contract }: Example,
  changes: readonly (readonly [right: string, wrong: string])[],
  env: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  for (const [at, [right, wrong]] of changes.entries()) {
    installed.write(`${at}-${file}`, changed(source, right, wrong));
    installed.write(`${at}-tests.mjs`, COLLECTED);
    installed.write(
      `${at}-contract.mjs`,
      contract.replace(`./${file}`, `./${at}-${file}`).replace("node:test", `./${at}-tests.mjs`),
    );
  }
  const driver = installed.write(
    "contracts.mjs",
    `const keeps = async (at) => {
       await import(\`./\${at}-contract.mjs\`);
       const { bodies } = await import(\`./\${at}-tests.mjs\`);
       for (const body of bodies) {
         const late = new Promise((_, reject) => setTimeout(reject, ${PATIENCE_MS}, new Error("it hangs")));
         if (!(await Promise.race([body(), late]).then(() => true, () => false))) return false;
       }
       return true;
     };
     console.log(JSON.stringify(await Promise.all(Array.from({ length: ${changes.length} }, (_, at) => keeps(at)))));
     process.exit();`,
  );
  const kept = JSON.parse(await installed.run(driver, env)) as boolean[];
  return changes.map(([right]) => right).filter((_, at) => kept[at]!);
}

function changed(source: string, right: string, wrong: string): string {
  if (!source.includes(right)) throw new Error(`the example does not say ${right}`);
  return source.replace(right, wrong);
}

/** The files in which a compilation found errors. */
export function filesWithErrors(compile: () => void): string[] {
  try {
    compile();
    return [];
  } catch (error) {
    return [
      ...new Set(
        [...(error as Error).message.matchAll(/^(\S+?)\(\d+,\d+\): error /gm)].map(([, file]) => file!),
      ),
    ];
  }
}
