import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from "node:os";
import { join } from "node:path";

const REPOSITORY = join(__dirname, "../../../..");

/** What the figures depend on beside the code. Nothing that names the machine. */
export function describeMachine(): Readonly<Record<string, string>> {
  return {
    cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? "unknown"}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${platform()} ${release().split("-")[0]!} ${arch()}`,
    node: process.version,
    "load at the beginning": loadavg()[0]!.toFixed(1),
  };
}

/** Versions of the peers and of the libraries that do the work. */
export function versions(): Readonly<Record<string, string>> {
  return {
    ...dependenciesOf("package.json", ["async-mutex", "express", "ioredis", "pg"]),
    ...dependenciesOf("bench/package.json"),
  };
}

function dependenciesOf(path: string, names?: readonly string[]): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, path), "utf8")) as {
    dependencies: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(dependencies).filter(([name]) => names === undefined || names.includes(name)),
  );
}
