import type { Kind } from "./resource.ts";
import type { SecretReference } from "./secret-reference.ts";

/** The resource that a secret text belongs to. */
export interface SecretHolder {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function holderOf({ kind }: Pick<Kind, "kind">, { metadata: { namespace, name } }: Held): SecretHolder {
  return { kind, namespace, name };
}

interface Held {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

export interface SettledHolder extends SecretHolder {
  readonly uid: string;
  /** `metadata.generation` of the references; absent: they are the newest. */
  readonly generation?: number;
}

/** Stores the secret texts of resources: in Secrets of the owner's namespace in a cluster, sealed within the resource on one machine. */
export interface SecretValues {
  /**
   * Call before writing the resource. Texts of earlier calls stay, so that an unchanged resource keeps working.
   * @param texts by a name of the caller's choice, such as the prop's @returns a reference for each, under the same names
   */
  keep(holder: SecretHolder, texts: Readonly<Record<string, string>>): Promise<Readonly<Record<string, SecretReference>>>;
  /**
   * The text that the holder's spec or status refers to.
   * @throws NotFound when the Secret or its key does not exist, InvalidInput when the holder may not refer to it or Headwater did not seal it
   */
  read(holder: SecretHolder, reference: SecretReference): Promise<string>;
  /** Call after writing the resource. Makes the resource own the stored texts that it refers to, so that they are deleted with it. */
  adopt(holder: SettledHolder, references: readonly SecretReference[]): Promise<void>;
  /**
   * Call after deploying the resource. Adopts its stored texts, and deletes those that it no longer refers to. Safe to repeat and to call
   * late: with `generation`, texts of a newer generation stay. Never touches Secrets of other creators.
   */
  settle(holder: SettledHolder, references: readonly SecretReference[]): Promise<void>;
}
