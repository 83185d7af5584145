import type { Migration } from "../../migration";

/**
 * Who is signed in to the console, when each key was last used, and the ways to what an operator looks for: payments of all
 * merchants, by amount, and by what the gateway calls them. The condition is true of every payment: an index that has it serves
 * only a question that repeats it, so that no plan for one merchant reads through the payments of all.
 */
export const consoleOfOperators: Migration = {
  version: 16,
  name: "the console",
  statements: (engine) => {
    const [text, integer, options] =
      engine === "sqlite" ? ["text", "integer", " STRICT"] : ['text COLLATE "C"', "bigint", ""];
    return [
      `ALTER TABLE api_keys ADD COLUMN last_used_at ${integer}`,
      `CREATE TABLE console_sessions (
        id_hash ${text} NOT NULL PRIMARY KEY,
        key_id ${text} NOT NULL REFERENCES api_keys (id),
        created_at ${integer} NOT NULL,
        expires_at ${integer} NOT NULL
      )${options}`,
      `CREATE INDEX console_sessions_ending ON console_sessions (expires_at)`,
      `CREATE INDEX payments_of_all ON payments (created_at DESC, id DESC) WHERE id <> ''`,
      `CREATE INDEX payments_of_all_by_status ON payments (visible_status, created_at DESC, id DESC)
        WHERE id <> ''`,
      `CREATE INDEX payments_of_all_by_reference ON payments (reference, created_at DESC, id DESC)
        WHERE reference IS NOT NULL AND id <> ''`,
      `CREATE INDEX payments_of_all_by_amount ON payments (authorized, currency, created_at DESC, id DESC)
        WHERE id <> ''`,
      `CREATE INDEX payments_by_amount ON payments (merchant_id, authorized, currency, created_at DESC, id DESC)`,
      `CREATE INDEX operations_by_gateway_reference ON operations (gateway_reference)
        WHERE gateway_reference IS NOT NULL`,
      `CREATE INDEX operations_unknown ON operations (created_at, id) WHERE status = 'unknown'`,
    ];
  },
};
