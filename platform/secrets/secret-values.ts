import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SecretValues } from "../../crds/secret-values.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Secrets } from "../../domain/secrets/secrets.ts";

/** On one machine a secret is stored sealed within the resource, and so is deleted with it. */
export function createSealedSecretValues(secrets: Pick<Secrets, "seal" | "open">): SecretValues {
  const seal = async ([name, text]: readonly [string, string]): Promise<[string, SecretReference]> => [
    name,
    { sealed: await secrets.seal(text) },
  ];
  return {
    keep: async (_holder, texts) => Object.fromEntries(await Promise.all(Object.entries(texts).map(seal))),
    async read(_holder, { sealed, secretKeyRef }) {
      if (sealed !== undefined) return secrets.open(sealed);
      throw new NotFound(
        `the Secret '${secretKeyRef?.name}' does not exist: an installation on one machine has no Secrets, but sealed secrets`,
      );
    },
    adopt: async () => undefined,
    settle: async () => undefined,
  };
}
