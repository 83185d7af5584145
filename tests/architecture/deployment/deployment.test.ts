import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";
import { settings } from "../../../src/infrastructure/configuration/settings";
import { projectFiles } from "../documents";
import { projectRoot } from "../planted-project";

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

describe("compose.yaml", () => {
  const compose: Compose = parse(read("compose.yaml"), { merge: true });
  const { services, volumes } = compose;
  const instances = Object.entries(services).filter(([name]) => /^holdfast-\d$/.test(name));

  test("has two instances, PostgreSQL and a reverse proxy", () => {
    expect(instances).toHaveLength(2);
    expect(services["postgres"]?.image).toMatch(/^postgres:\d+$/);
    expect(services["proxy"]?.image).toMatch(/^nginx:[\d.]+$/);
  });

  test("gives the instances settings that exist and are valid, with one store and one lock for all", () => {
    const known: readonly string[] = Object.values(settings).map(({ environment }) => environment);
    for (const [, { environment = {} }] of instances) {
      expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
      const configuration = readConfiguration({ flags: {}, environment });
      expect(configuration.settings.store.value.kind).toBe("postgres");
      expect(configuration.settings.locks.value).toEqual({ kind: "store" });
      expect(environment).toEqual(instances[0]?.[1].environment);
    }
  });

  test("waits only for services that exist and say when they are healthy", () => {
    for (const { depends_on: needed = {} } of Object.values(services))
      for (const [name, { condition }] of Object.entries(needed)) {
        expect(condition).toBe("service_healthy");
        expect(services[name]?.healthcheck?.test[0]).toMatch(/^CMD/);
      }
  });

  test("asks an instance's readiness by a route that there is", () => {
    for (const [, { healthcheck }] of instances)
      expect(healthcheck?.test).toEqual(["CMD", "node", "dist/holdfast.js", "health"]);
    expect(read("src/interfaces/cli/commands/serving/health.ts")).toContain('"/readyz"');
  });

  test("lets a stopping instance finish what it has begun", () => {
    for (const [, service] of instances)
      expect(Number.parseInt(service.stop_grace_period ?? "10s", 10)).toBeGreaterThan(32);
  });

  test("mounts only what is there, and the proxy knows the instances by their names", () => {
    for (const mounted of Object.values(services).flatMap((service) => service.volumes ?? [])) {
      const [source = ""] = mounted.split(":");
      expect(source.startsWith("./") ? existsSync(join(projectRoot, source)) : source in volumes).toBe(true);
    }
    const upstreams = [...read("deploy/nginx.conf").matchAll(/server (holdfast-\d):(\d+)/g)];
    expect(upstreams.map(([, name]) => name)).toEqual(instances.map(([name]) => name));
    for (const [, , port] of upstreams) expect(port).toBe(instances[0]?.[1].environment?.["HOLDFAST_PORT"]);
  });
});

const INSTRUCTIONS = [
  "FROM",
  "WORKDIR",
  "COPY",
  "RUN",
  "ENV",
  "VOLUME",
  "USER",
  "EXPOSE",
  "HEALTHCHECK",
  "ENTRYPOINT",
  "CMD",
];

interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly lines: readonly (readonly string[])[];
}

function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.trim().split(/\s+/));
  const stages: { base: string; name: string | undefined; lines: string[][] }[] = [];
  for (const words of lines)
    if (words[0] === "FROM") stages.push({ base: words[1] ?? "", name: words[3], lines: [] });
    else stages.at(-1)!.lines.push(words);
  return stages;
}

describe("Dockerfile", () => {
  const stages = stagesOf(read("Dockerfile"));
  const last = stages.at(-1)!;
  const argumentsOf = (stage: Stage, instruction: string) =>
    stage.lines.filter(([word]) => word === instruction).map((words) => words.slice(1));

  test("consists of instructions that there are, in two stages on one Node", () => {
    expect(stages).toHaveLength(2);
    expect(new Set(stages.map(({ base }) => base)).size).toBe(1);
    for (const [instruction] of stages.flatMap(({ lines }) => lines))
      expect(INSTRUCTIONS).toContain(instruction);
    // glibc: the kernel file lock and, before Node 24, SQLite have no binaries for musl.
    // An exact version: the same file is the same image tomorrow.
    expect(last.base).toMatch(/^node:24\.\d+\.\d+-\w+-slim$/);
  });

  test("copies what is in the repository and not kept out, and what an earlier stage has made", () => {
    const letIn = read(".dockerignore").split("\n");
    const files = projectFiles();
    for (const stage of stages)
      for (const words of argumentsOf(stage, "COPY")) {
        const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
        const sources = words.filter((word) => !word.startsWith("--")).slice(0, -1);
        if (from !== undefined) expect(stages.map(({ name }) => name)).toContain(from);
        else
          for (const source of sources) {
            expect(letIn).toContain(`!${source}`);
            expect(files.some((file) => file === source || file.startsWith(`${source}/`))).toBe(true);
          }
      }
  });

  test("runs the program of package.json, without a shell and not as root", () => {
    const { bin } = JSON.parse(read("package.json")) as { bin: { holdfast: string } };
    expect(JSON.parse(argumentsOf(last, "ENTRYPOINT")[0]!.join(" "))).toEqual(["node", bin.holdfast]);
    expect(JSON.parse(argumentsOf(last, "CMD")[0]!.join(" "))).toEqual(["serve"]);
    expect(argumentsOf(last, "USER")).toEqual([["node"]]);
  });
});
