/** MUST never give the same id twice, in any process: lower-case UUIDs of version 7. */
export interface IdGenerator {
  nextId(): string;
}
