import "reflect-metadata";
import { decorate, injectable, unmanaged, type ServiceIdentifier } from "inversify";

/** The token of each part, in the order of the parts. */
export type TokensOf<Parts extends readonly unknown[]> = {
  readonly [Index in keyof Parts]: ServiceIdentifier<Parts[Index]>;
};

/**
 * Says from outside how a class is made, so that the class itself knows no container: the token of each argument of its
 * constructor. What a decorated class would get from the compiler, the types of these arguments, is written here by hand,
 * with tokens for interfaces, of which nothing is left at run time. A wrong or a missing token does not compile.
 *
 * To be called once per class, when a module of the container is loaded.
 */
export function constructs<Made extends new (...parts: never[]) => object>(
  made: Made,
  parts: TokensOf<ConstructorParameters<Made>>,
): Made {
  Reflect.defineMetadata("design:paramtypes", parts, made);
  decorate(injectable(), made);
  // The container leaves out what the constructor can do without.
  for (let index = parts.length; index < made.length; index += 1) decorate(unmanaged(), made, index);
  return made;
}
