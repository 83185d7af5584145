import { Container, type ServiceIdentifier } from "inversify";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { assembles } from "../../../src/infrastructure/composition/container/assembles";
import { constructs } from "../../../src/infrastructure/composition/container/constructs";
import { tokens } from "../../../src/infrastructure/composition/container/tokens";
import { useCasesModule } from "../../../src/infrastructure/composition/container/use-cases-module";

const token = <T>(name: string): ServiceIdentifier<T> => Symbol(name);
const name = token<string>("name");
const size = token<number>("size");

class Tent {
  constructor(
    readonly label: string,
    readonly beds: number,
    readonly pegs = 4,
  ) {}
}

function containerOf(...values: readonly (readonly [ServiceIdentifier, unknown])[]): Container {
  const container = new Container({ defaultScope: "Singleton" });
  for (const [token, value] of values) container.bind(token).toConstantValue(value);
  return container;
}

describe("constructs", () => {
  it("lets the container make a class that knows no container, from its constructor", () => {
    const container = containerOf([name, "blue"], [size, 2]);
    container.bind(constructs(Tent, [name, size])).toSelf();
    expect(container.get(Tent)).toEqual(new Tent("blue", 2));
    expect(container.get(Tent)).toBe(container.get(Tent));
  });

  it("is needed: of a class without it the container does not know what to give it", () => {
    class Unsaid {
      constructor(readonly label: string) {}
    }
    const container = containerOf([name, "blue"]);
    expect(() => container.bind(Unsaid).toSelf()).toThrow(/missing metadata on type "Unsaid"/);
  });

  it("writes metadata where a compiler would, and nothing into the class", () => {
    expect(useCasesModule()).toBeDefined();
    expect(Reflect.getOwnMetadata("design:paramtypes", CapturePayment)).toEqual([
      tokens.locks,
      tokens.operations,
    ]);
    expect(Object.keys(CapturePayment)).toEqual([]);
  });

  it("does not compile with a wrong, swapped, missing or surplus token", () => {
    const planted = () => [
      // @ts-expect-error -- the clock is no lock provider
      constructs(CapturePayment, [tokens.clock, tokens.operations]),
      // @ts-expect-error -- swapped
      constructs(CapturePayment, [tokens.operations, tokens.locks]),
      // @ts-expect-error -- one is missing
      constructs(CapturePayment, [tokens.locks]),
      // @ts-expect-error -- one too many
      constructs(CapturePayment, [tokens.locks, tokens.operations, tokens.clock]),
      // @ts-expect-error -- a class that makes something else
      constructs(Tent, [Tent, size]),
    ];
    expect(planted).toBeInstanceOf(Function);
  });
});

describe("assembles", () => {
  const describeTent = ({ label, beds }: { readonly label: string; readonly beds: number }) =>
    `${label} ${beds}`;

  it("lets the container call a function of named parts", () => {
    const described = token<string>("described");
    const container = containerOf([name, "blue"], [size, 2]);
    container
      .bind<string>(described)
      .toResolvedValue(...assembles(describeTent, { beds: size, label: name }));
    expect(container.get(described)).toBe("blue 2");
  });

  it("does not compile with a part that is wrong or missing", () => {
    const planted = () => [
      // @ts-expect-error -- a number is no label
      assembles(describeTent, { label: size, beds: size }),
      // @ts-expect-error -- no beds
      assembles(describeTent, { label: name }),
    ];
    expect(planted).toBeInstanceOf(Function);
  });
});
