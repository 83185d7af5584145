// @ts-check
/**
 * Leases in S3, or in any store that speaks its API and honours `If-Match` and `If-None-Match`:
 *
 *   const locks = new LeaseLockProvider(new S3LeaseRecordStore("https://my-locks.s3.eu-central-1.amazonaws.com/jobs/", aws.fetch));
 */
import { randomUUID } from "node:crypto";
import {
  parseLeaseRecord,
  PermanentLeaseStoreError,
  recordVersion,
  serializeLeaseRecord,
  TransientLeaseStoreError,
} from "holdfast/locks";

/** @typedef {import("holdfast/locks").LeaseRecordStore} LeaseRecordStore */
/** @typedef {import("holdfast/locks").RecordVersion} RecordVersion */
const ANSWER_WITHIN_MS = 4_000;
/** Times in answers are cut to whole seconds. */
const DATE_STEP_MS = 1_000;

/** @implements {LeaseRecordStore} */
export class S3LeaseRecordStore {
  /**
   * @param {string} folder Where the records are, with a slash at its end.
   * @param {(url: string, init: RequestInit) => Promise<Response>} send Signs as the store wants it (`aws4fetch` has such a one).
   */
  constructor(folder, send = fetch) {
    this.folder = folder;
    this.send = send;
  }

  /** @param {string} id */
  async read(id) {
    const { status, headers, text } = await this.ask("GET", id);
    if (status === 404) return null;
    const version = recordVersion(headers.get("etag") ?? "");
    return { record: parseLeaseRecord(text, this.place(id)), version, storeNowMs: dateIn(headers, "date") };
  }

  /** @param {string} id @param {RecordVersion} version */
  async ageMs(id, version) {
    const { status, headers } = await this.ask("HEAD", id, { "If-Match": version });
    if (status === 404 || status === 412) return null;
    return Math.max(0, dateIn(headers, "date") - dateIn(headers, "last-modified") - DATE_STEP_MS);
  }

  /**
   * @param {string} id @param {import("holdfast/locks").StoredLeaseRecord} record
   * @param {RecordVersion | "absent"} ifVersion
   */
  async write(id, record, ifVersion) {
    /** @type {Record<string, string>} */
    const condition = ifVersion === "absent" ? { "If-None-Match": "*" } : { "If-Match": ifVersion };
    // An ETag is a digest of the bytes: without something of its own, an old state could come back under its old version.
    const body = JSON.stringify({ ...JSON.parse(serializeLeaseRecord(record)), nonce: randomUUID() });
    const { status, headers } = await this.ask("PUT", id, condition, body);
    if (status === 412 || status === 404) return /** @type {const} */ ("conflict");
    return recordVersion(headers.get("etag") ?? "");
  }

  /** @param {string} id @param {RecordVersion} ifVersion */
  async remove(id, ifVersion) {
    await this.ask("DELETE", id, { "If-Match": ifVersion });
  }

  /** @param {string} id */
  place(id) {
    // Escaped twice: once for the name of the object, so that "../" leads nowhere, and once for the address.
    return this.folder + encodeURIComponent(`${encodeURIComponent(id)}.json`);
  }

  /**
   * One request, sent once. Answers what the protocol asks about: found, absent (404), another version (412).
   * @param {string} method @param {string} id @param {Record<string, string>} [headers] @param {string} [body]
   */
  async ask(method, id, headers, body) {
    const doing = `cannot ${method} ${this.place(id)}`;
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const sent = { method, headers: headers ?? {}, signal, ...(body === undefined ? {} : { body }) };
    const { answer, text } = await this.send(this.place(id), sent)
      .then(async (answered) => ({ answer: answered, text: await answered.text() }))
      .catch((cause) => Promise.reject(new TransientLeaseStoreError(`${doing}: ${cause}`, { cause })));
    const { status } = answer;
    const said = `${doing}: ${status} ${/<Code>(\w+)</.exec(text)?.[1] ?? ""}`;
    // A missing bucket is no free lock.
    const isMissing = status === 404 && method !== "HEAD" && !text.includes("NoSuchKey");
    if (isMissing || [400, 401, 403].includes(status)) throw new PermanentLeaseStoreError(said);
    const throttled = status === 503 || status === 429;
    if (!answer.ok && status !== 404 && status !== 412)
      throw new TransientLeaseStoreError(said, { throttled });
    return { status, headers: answer.headers, text };
  }
}

/** @param {Headers} headers @param {string} name */
const dateIn = (headers, name) => Date.parse(headers.get(name) ?? "");
