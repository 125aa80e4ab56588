import type { Kind, Resource } from "../crds/resource.ts";
import type { SecretReference } from "../crds/secret-reference.ts";
import type { AnyStatus } from "./controller/status.ts";
import type { OperatorPorts } from "./ports.ts";

interface Ports {
  readonly secretValues: Pick<OperatorPorts["secretValues"], "adopt">;
  readonly log: Pick<OperatorPorts["log"], "warn">;
}

/**
 * Call early in a pass, when the namespace has an owner. Clients store secret texts before they write the resource, and may not change
 * them afterwards: from here on the texts are deleted with the resource, also if it is never deployed. Once for each generation, since its
 * status is reported later.
 */
export async function adoptSecrets<S, T extends AnyStatus>(
  { kind }: Kind<S, T>,
  { metadata, status }: Resource<S, T>,
  references: readonly SecretReference[],
  { secretValues, log }: Ports,
): Promise<void> {
  const { namespace, name, uid, generation, deletionTimestamp } = metadata;
  const isEnding = deletionTimestamp !== undefined;
  const written = isEnding ? generation - 1 : generation; // The request to delete it counts as a generation.
  if (references.length === 0 || (status.observedGeneration ?? 0) >= written) return;
  const adopting = secretValues.adopt({ kind, namespace, name, uid, generation: written }, references);
  if (!isEnding) return adopting;
  // A namespace in deletion may have lost its RoleBindings, and loses its Secrets anyway.
  await adopting.catch((error: unknown) => log.warn({ op: "secret.adopt", kind, namespace, name, err: error }, "its secrets may remain"));
}
