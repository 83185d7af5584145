import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { packedProgram } from "./built-program";

const root = join(__dirname, "..", "..", "..");
const WITHIN_MS = 120_000;

/** A project of another author in which the packed package is installed, with the dependencies that it names. */
export class InstalledPackage {
  private constructor(readonly project: string) {}

  static async install(): Promise<InstalledPackage> {
    const packed = await packedProgram();
    const project = mkdtempSync(join(tmpdir(), "holdfast-package-"));
    const modules = join(project, "node_modules");
    mkdirSync(join(modules, "holdfast"), { recursive: true });
    execFileSync("tar", ["-xzf", packed, "-C", join(modules, "holdfast"), "--strip-components=1"]);
    const { dependencies, bin } = JSON.parse(
      readFileSync(join(modules, "holdfast", "package.json"), "utf8"),
    ) as {
      dependencies: Record<string, string>;
      bin: Record<string, string>;
    };
    mkdirSync(join(modules, ".bin"));
    for (const [command, file] of Object.entries(bin)) {
      chmodSync(join(modules, "holdfast", file), 0o755);
      symlinkSync(join("..", "holdfast", file), join(modules, ".bin", command));
    }
    for (const name of [...Object.keys(dependencies), "@types/node", "@types/express"]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
    // Its own, or the next one above it would be taken for the project's.
    writeFileSync(
      join(project, "package.json"),
      JSON.stringify({ name: "of-another-author", private: true }),
    );
    return new InstalledPackage(project);
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.project, name), text);
    return name;
  }

  /** What a program of the project prints. */
  node(...args: string[]): string {
    return execFileSync(process.execPath, args, { cwd: this.project, encoding: "utf8" }).trim();
  }

  /** As `node`, while the test goes on: it may be what the program talks to. */
  async run(file: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: this.project,
      env: { ...process.env, ...env },
      timeout: WITHIN_MS,
    });
    return stdout.trim();
  }

  /** As `compile`, without the declarations of packages, which take most of the time: package.test.ts checks them. */
  compileSamples(files: readonly string[]): void {
    this.compile(files, "node20", { skipLibCheck: true });
  }

  /** Type-checks the files strictly, and leaves JavaScript beside those that are TypeScript. */
  compile(
    files: readonly string[],
    resolution: "node20" | "nodenext" | "bundler" = "node20",
    more: object = {},
  ): void {
    const isScript = files.every((file) => file.endsWith(".mjs"));
    this.write(
      "tsconfig.json",
      JSON.stringify({
        compilerOptions: {
          strict: true,
          ...(resolution === "bundler"
            ? { module: "esnext", moduleResolution: "bundler", noEmit: true }
            : { module: resolution }),
          target: "es2022",
          lib: ["es2022", "dom"],
          types: ["node"],
          ...(isScript && { checkJs: true, noEmit: true }),
          ...more,
        },
        files,
      }),
    );
    try {
      const tsc = join(root, "node_modules", ".bin", "tsc");
      execFileSync(tsc, ["-p", "."], { cwd: this.project, encoding: "utf8" });
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout, { cause: error });
    }
  }

  remove(): void {
    rmSync(this.project, { recursive: true, force: true });
  }
}
