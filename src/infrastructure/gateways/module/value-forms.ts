const REFERENCE = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
/** How many characters a time of the years 0 to 9999 has. Others are written in another way. */
const ISO_LENGTH = "9999-12-31T00:00:00.000Z".length;

export function isReference(value: unknown): value is string {
  return typeof value === "string" && REFERENCE.test(value);
}

export function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

/** A time that can be shown to callers, and to which something can be added. */
export function isPlainDate(value: unknown): value is Date {
  return isDate(value) && value.toISOString().length === ISO_LENGTH;
}
