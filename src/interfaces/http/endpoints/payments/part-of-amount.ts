import { z } from "zod";
import { amountIn, currencyIn } from "../../requests/wire-values";

/** Of what is there or left; each schema that the document names is an object of its own. */
export const partOfAmount = () =>
  z.strictObject({
    amount: amountIn.optional(),
    currency: currencyIn.optional().meta({ description: "If given, it must match the payment's currency." }),
  });
