import { UnauthorizedError, type AuthenticateCaller, type AuthenticatedCaller } from "./authenticate-caller";

/** Without any key everybody is an operator, which is right on loopback, and nowhere else. */
export class OnlyWithKeys {
  constructor(private readonly authenticate: Pick<AuthenticateCaller, "execute">) {}

  async execute(secret: string | null): Promise<AuthenticatedCaller> {
    const caller = await this.authenticate.execute(secret);
    if (caller.keyId === null) throw new UnauthorizedError();
    return caller;
  }
}
