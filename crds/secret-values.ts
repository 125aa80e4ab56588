import type { SecretReference } from "./secret-reference.ts";

/** The resource that a secret text belongs to. */
export interface SecretHolder {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface SettledHolder extends SecretHolder {
  readonly uid: string;
  /** `metadata.generation`; absent: the references are the newest there are. */
  readonly generation?: number;
}

/** Keeps the secret texts of resources: in Secrets of the owner's namespace in a cluster, sealed within the resource on one machine. */
export interface SecretValues {
  /**
   * Done before the resource is written; what an earlier call kept stays as it is, so that a resource not yet changed goes on working.
   * @param texts by a name of the caller's, such as the prop's @returns a reference for each, under the same names
   */
  keep(holder: SecretHolder, texts: Readonly<Record<string, string>>): Promise<Readonly<Record<string, SecretReference>>>;
  /** @throws NotFound when the Secret or its key is not there, InvalidInput when a sealed text was not sealed by us */
  read(namespace: string, reference: SecretReference): Promise<string>;
  /**
   * After the resource was written: what was kept for it ends with it (owner reference), and what it no longer refers to ends now.
   * Safe to repeat and to call late: with the `generation` whose references these are, what a newer one refers to stays. Never
   * touches a Secret that somebody else made.
   */
  settle(holder: SettledHolder, references: readonly SecretReference[]): Promise<void>;
}
