import type { Compilable, CompiledQuery } from "kysely";

/** Stands in a query for a value that is only known when it runs. */
class Placeholder {
  constructor(readonly name: PropertyKey) {}
}

/** A query that is built and compiled once and run with other values each time. */
export class PreparedQuery<Args extends object, Row> {
  private readonly compiled: CompiledQuery<Row>;

  constructor(build: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>) {
    this.compiled = build(
      <Name extends keyof Args>(name: Name) => new Placeholder(name) as Args[Name],
    ).compile();
  }

  with(args: Args): CompiledQuery<Row> {
    const parameters = this.compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? args[parameter.name as keyof Args] : parameter,
    );
    return { ...this.compiled, parameters };
  }
}
