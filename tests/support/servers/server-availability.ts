import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { mayMount } from "../mounts";

export type ServerKind = "postgres" | "redis";

type Found =
  | { readonly there: true; readonly url: string }
  | { readonly there: false; readonly needs: string; readonly reason: string };

/** Where the tests look for servers. The word `none` means: look nowhere, and start none either. */
export function serverUrl(kind: ServerKind): string {
  return kind === "postgres"
    ? (process.env["HOLDFAST_TEST_POSTGRES_URL"] ?? `postgres://${userName()}@127.0.0.1:5432/postgres`)
    : (process.env["HOLDFAST_TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379");
}

/** Set once per run by global-setup.ts: the kinds that answered, by comma. Test files only read it. */
export const answeringServers = "HOLDFAST_TEST_ANSWERING_SERVERS";

/** Debian's. */
const CHROMIUM = ["/usr/bin/chromium"];

export const availability: Record<
  ServerKind | `own-${ServerKind}` | "script" | "mounts" | "python" | "browser",
  () => Found
> = {
  postgres: () => answering("postgres", "PostgreSQL"),
  redis: () => answering("redis", "Redis"),
  "own-postgres": () => ownProgram("postgres", "PostgreSQL's programs"),
  "own-redis": () => ownProgram("redis", "redis-server"),
  script: () => {
    // Others have a program of that name, too, and it takes other arguments.
    const { stdout } = spawnSync("script", ["--version"], { encoding: "utf8" });
    const needs = "script from util-linux";
    return /util-linux/.test(stdout ?? "")
      ? { there: true, url: "script:" }
      : { there: false, needs, reason: `there is no ${needs}` };
  },
  python: () => {
    const { status } = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]);
    const needs = "Python 3.9";
    return status === 0
      ? { there: true, url: "python3:" }
      : { there: false, needs, reason: `there is no ${needs}` };
  },
  browser: () => {
    const program = CHROMIUM.find((path) => existsSync(path));
    return program === undefined
      ? { there: false, needs: "Chromium", reason: "chromium is not installed" }
      : { there: true, url: program };
  },
  mounts: () =>
    mayMount()
      ? { there: true, url: "mount:" }
      : { there: false, needs: "the right to mount", reason: "mount refuses a small tmpfs" },
};

/** The newest installation's folder wins; Debian keeps PostgreSQL's server programs outside PATH. */
export function findProgram(name: "postgres" | "initdb" | "redis-server"): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function answering(kind: ServerKind, needs: string): Found {
  const there = (process.env[answeringServers] ?? "").split(",").includes(kind);
  // The URL may hold a password, so it is not repeated.
  return there
    ? { there, url: serverUrl(kind) }
    : {
        there,
        needs,
        reason: `${needs} does not answer where HOLDFAST_TEST_${kind.toUpperCase()}_URL points`,
      };
}

function ownProgram(kind: ServerKind, needs: string): Found {
  const program = findProgram(kind === "postgres" ? "initdb" : "redis-server");
  // Where no server answers, none is started either: a run without servers is a quick one.
  const { there } = answering(kind, needs);
  return program !== undefined && there
    ? { there, url: program }
    : { there: false, needs, reason: `${needs} are not installed, or no server answers beside them` };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "postgres"; // a container may run under a user id that has no name
  }
}
