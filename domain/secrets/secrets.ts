/** Seals and opens secret texts; compact JWE either way, `kid` naming the key. */
export interface Secrets {
  /** Seals for Headwater, to store in a resource. */
  seal(text: string): Promise<string>;
  /** @throws InvalidInput if it was not sealed by an available key */
  open(sealed: string): Promise<string>;
  /** Seals for the runners of a pool, which alone can open it. */
  sealForPool(pool: string, text: string): Promise<string>;
}

/** A runner's part: opens only texts that were sealed for its pool. */
export interface PoolSecrets {
  open(sealed: string): Promise<string>;
}
