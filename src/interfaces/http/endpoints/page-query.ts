import { z } from "zod";

export const pageQuery = z.strictObject({
  limit: z.int().min(1).max(100).default(20).meta({ description: "Maximum number of entries." }),
  cursor: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/, "is not a cursor")
    .optional()
    .meta({ description: "`nextCursor` of the previous page." }),
});
