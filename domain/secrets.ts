/** Seals and opens secret texts; compact JWE either way, `kid` naming the key. */
export interface Secrets {
  /** For us, at rest: what lies in a resource. */
  seal(text: string): Promise<string>;
  /** @throws InvalidInput when it was not sealed by a key we hold. */
  open(sealed: string): Promise<string>;
  /** Towards the runners of a pool, which alone can open it. */
  sealForPool(pool: string, text: string): Promise<string>;
}

/** What a runner holds: it opens what was sealed for its pool and nothing else. */
export interface PoolSecrets {
  open(sealed: string): Promise<string>;
}
