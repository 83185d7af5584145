import { GoogleError, invalid, noSuchBucket, noSuchObject, tooManyMutations } from "./google-error";
import { checkPreconditions, type Preconditions } from "./preconditions";
import type { StoredObject } from "./stored-object";

export interface StorageStateOptions {
  /** The storage's own wall clock, in milliseconds. May differ from the test's. */
  readonly now?: () => number;
  /** One mutation per second and object name, deletes included. Off unless asked for. */
  readonly limitMutations?: boolean;
  /** The service promises that a generation is unique, not that it grows; `shuffled` makes that visible. */
  readonly generations?: "growing" | "shuffled";
}

const MUTATION_INTERVAL_MS = 1_000;
const MAX_NAME_BYTES = 1_024;

/** What the service stores. Each method applies at once and entirely, or throws and changes nothing. */
export class StorageState {
  private readonly buckets = new Map<string, Map<string, StoredObject>>();
  private readonly lastMutation = new Map<string, number>();
  private readonly used = new Set<string>();
  private lastGeneration = 0;
  limitMutations: boolean;

  constructor(private readonly options: StorageStateOptions = {}) {
    this.limitMutations = options.limitMutations ?? false;
  }

  now(): number {
    return this.options.now?.() ?? Date.now();
  }

  createBucket(bucket: string): void {
    if (this.buckets.has(bucket))
      throw new GoogleError(
        409,
        "conflict",
        "Your previous request to create the named bucket succeeded and you already own it.",
      );
    this.buckets.set(bucket, new Map());
  }

  deleteBucket(bucket: string): void {
    if (this.objectsOf(bucket).size > 0)
      throw new GoogleError(409, "conflict", "The bucket you tried to delete is not empty.");
    this.buckets.delete(bucket);
  }

  /** Throws unless the bucket is there. */
  objectsOf(bucket: string): Map<string, StoredObject> {
    const objects = this.buckets.get(bucket);
    if (objects === undefined) throw noSuchBucket();
    return objects;
  }

  get(bucket: string, name: string, conditions: Preconditions = {}, generation?: string): StoredObject {
    const live = this.objectsOf(bucket).get(name);
    // Without versioning an overwritten generation is gone.
    if (live === undefined || (generation !== undefined && generation !== live.generation))
      throw noSuchObject(bucket, name);
    checkPreconditions(conditions, live);
    return live;
  }

  insert(
    bucket: string,
    name: string,
    content: Buffer,
    facts: { readonly contentType?: string; readonly metadata?: Record<string, string> },
    conditions: Preconditions = {},
  ): StoredObject {
    const objects = this.objectsOf(bucket);
    checkName(name);
    this.checkRate(bucket, name);
    checkPreconditions(conditions, objects.get(name));
    const now = this.now();
    const object: StoredObject = {
      bucket,
      name,
      content,
      generation: this.nextGeneration(now),
      metageneration: 1,
      timeCreated: now,
      updated: now,
      contentType: facts.contentType ?? "application/octet-stream",
      ...(facts.metadata === undefined ? {} : { metadata: facts.metadata }),
    };
    objects.set(name, object);
    this.mutated(bucket, name);
    return object;
  }

  patch(
    bucket: string,
    name: string,
    metadata: Record<string, string>,
    conditions: Preconditions,
  ): StoredObject {
    const current = this.objectsOf(bucket).get(name);
    if (current === undefined) throw noSuchObject(bucket, name);
    this.checkRate(bucket, name);
    checkPreconditions(conditions, current);
    const object = {
      ...current,
      metadata: { ...current.metadata, ...metadata },
      metageneration: current.metageneration + 1,
      updated: this.now(),
    };
    this.objectsOf(bucket).set(name, object);
    this.mutated(bucket, name);
    return object;
  }

  delete(bucket: string, name: string, conditions: Preconditions = {}, generation?: string): void {
    const current = this.objectsOf(bucket).get(name);
    if (current === undefined || (generation !== undefined && generation !== current.generation))
      throw noSuchObject(bucket, name);
    this.checkRate(bucket, name);
    checkPreconditions(conditions, current);
    this.objectsOf(bucket).delete(name);
    this.mutated(bucket, name);
  }

  // Before the preconditions: the loser of a race may be told 429 where it expects 412.
  private checkRate(bucket: string, name: string): void {
    if (!this.limitMutations) return;
    const last = this.lastMutation.get(`${bucket}/${name}`);
    if (last !== undefined && this.now() - last < MUTATION_INTERVAL_MS) throw tooManyMutations(bucket, name);
  }

  private mutated(bucket: string, name: string): void {
    this.lastMutation.set(`${bucket}/${name}`, this.now());
  }

  private nextGeneration(now: number): string {
    if (this.options.generations === "shuffled") {
      let generation: string;
      do generation = String(1 + Math.floor(Math.random() * 9e15));
      while (this.used.has(generation));
      this.used.add(generation);
      return generation;
    }
    this.lastGeneration = Math.max(this.lastGeneration + 1, Math.floor(now * 1_000));
    return String(this.lastGeneration);
  }
}

function checkName(name: string): void {
  if (name === "" || name === "." || name === ".." || /[\r\n]/.test(name))
    throw invalid(`Invalid object name: '${name}'`);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw invalid("The maximum object length is 1024 characters, but got a name with more.");
}
