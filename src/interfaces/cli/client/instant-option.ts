import { UsageError } from "../exit-status";

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What was given with an option that takes a time of the past, as the server takes it. Throws `UsageError`, which names the option. */
export function pastInstant(option: string, text: string, now: Date): string {
  if (!isInstant(text)) {
    throw new UsageError(
      `${option} must be a time in ISO 8601 with an offset or Z, such as 2026-03-01T00:00:00Z, not "${text}"`,
    );
  }
  if (new Date(text) > now) {
    throw new UsageError(
      `${option} is in the future: it is ${now.toISOString()}, and nothing has happened since`,
    );
  }
  return text;
}

/** Of a month that has this day: a date would go on in the next month. */
function isInstant(text: string): boolean {
  const [, year, month, day] = (INSTANT.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && new Date(Date.UTC(year, month, 0)).getUTCDate() >= day;
}
