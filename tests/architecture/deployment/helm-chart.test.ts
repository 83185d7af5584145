import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";
import { settings } from "../../../src/infrastructure/configuration/settings";
import { projectRoot } from "../planted-project";

// Neither Debian nor npm has Helm: the templates are filled in here as far as they use its language. No cluster is asked.

const chart = join(projectRoot, "deploy", "helm", "holdfast");
const read = (...path: string[]): string => readFileSync(join(chart, ...path), "utf8");

interface Values {
  readonly settings: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

/** What Helm makes of a template. Throws on what this does not know, and on a value that is required and missing. */
function filledIn(template: string, values: Values): string {
  const ranged = template.replace(
    /^ *\{\{- range \$name, \$value := \.Values\.settings \}\}\n([\s\S]*?)^ *\{\{- end \}\}\n/gm,
    (_, body: string) =>
      Object.entries(values.settings)
        .map(([name, value]) =>
          body.replace("{{ $name }}", name).replace("{{ $value | quote }}", `"${value}"`),
        )
        .join(""),
  );
  return ranged.replace(/\{\{-? (.*?) \}\}/g, (_, expression: string) => {
    const [first = "", ...pipes] = expression.split(" | ");
    const required = /^required "([^"]*)" (.*)$/.exec(first);
    const path = (required?.[2] ?? first).replace(/^toYaml /, "");
    const value = valueAt(path, values);
    if (required !== null && value === "") throw new Error(required[1]);
    if (first.startsWith("toYaml ")) {
      const indent = " ".repeat(Number(/^nindent (\d+)$/.exec(pipes[0] ?? "")?.[1]));
      return `\n${stringify(value).trimEnd().replace(/^/gm, indent)}`;
    }
    if (pipes.length === 0 || pipes[0] === "int") return String(value);
    if (pipes[0] === "quote") return JSON.stringify(value);
    throw new Error(`not known here: ${expression}`);
  });
}

function valueAt(path: string, values: Values): unknown {
  if (path === ".Release.Name") return "payments";
  const names = /^\.Values\.(.+)$/.exec(path)?.[1]?.split(".");
  if (names === undefined) throw new Error(`not known here: ${path}`);
  return names.reduce<unknown>((found, name) => {
    const value = (found as Record<string, unknown>)[name];
    if (value === undefined) throw new Error(`values.yaml has no ${path}`);
    return value;
  }, values);
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
  readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
}

describe("the Helm chart", () => {
  const values = parse(read("values.yaml")) as Values;
  const own = { ...values, image: "registry.example/holdfast:0.1.0", secretName: "holdfast" };
  const files = readdirSync(join(chart, "templates"));
  const manifests = files.map(
    (file) =>
      parse(filledIn(read("templates", file), own)) as { kind: string; spec: Record<string, unknown> },
  );
  const of = (kind: string) => manifests.find((manifest) => manifest.kind === kind)!.spec;
  const pod = (of("Deployment")["template"] as { spec: Record<string, unknown> }).spec;
  const [container] = pod["containers"] as readonly Container[];

  test("has the version of the package", () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
      version: string;
    };
    expect(parse(read("Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });

  test("is two instances, a service, and a budget for disruptions that one of them survives", () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      "Deployment",
      "PodDisruptionBudget",
      "Service",
    ]);
    expect([of("Deployment")["replicas"], of("PodDisruptionBudget")["minAvailable"]]).toEqual([2, 1]);
  });

  test("asks for an image and a secret", () => {
    const deployment = read("templates", "deployment.yaml");
    expect(() => filledIn(deployment, { ...own, image: "" })).toThrow("image: which one?");
    expect(() => filledIn(deployment, { ...own, secretName: "" })).toThrow("secretName: which one?");
  });

  test("gives settings that exist and are valid with a store on PostgreSQL", () => {
    const names = container!.env.map(({ name }) => name).filter((name) => name !== "POD_IP");
    const known: readonly string[] = Object.values(settings).map(({ environment }) => environment);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const environment = { ...values.settings, HOLDFAST_STORE: "postgres://holdfast@db/holdfast" };
    expect(readConfiguration({ flags: {}, environment }).settings.locks.value).toEqual({ kind: "store" });
  });

  test("gives no privileges, and nothing that can be written but /tmp", () => {
    expect(pod["securityContext"]).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod["automountServiceAccountToken"]).toBe(false);
    expect(container!.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("asks an instance's health and readiness by routes that there are, and lets it finish when it stops", () => {
    expect(container!.livenessProbe.httpGet.path).toBe("/healthz");
    expect(container!.readinessProbe.httpGet.path).toBe("/readyz");
    expect(pod["terminationGracePeriodSeconds"]).toBeGreaterThan(32);
  });
});
