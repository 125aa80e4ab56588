import type { Kind, Resource } from "../crds/resource.ts";
import type { SecretReference } from "../crds/secret-reference.ts";
import type { AnyStatus } from "./controller/status.ts";
import type { OperatorPorts } from "./ports.ts";

interface Ports {
  readonly secretValues: Pick<OperatorPorts["secretValues"], "adopt">;
  readonly log: Pick<OperatorPorts["log"], "warn">;
}

/**
 * Call first in a pass, when the namespace has an owner. Clients store secret texts before they write the resource, and may not change
 * them afterwards. The resource owns them once its generation is reported; if it is deleted, they are deleted with it in any case, also
 * those that an operator of an earlier release left to the client.
 */
export async function adoptSecrets<S, T extends AnyStatus>(
  { kind }: Kind<S, T>,
  { metadata, status }: Resource<S, T>,
  references: readonly SecretReference[],
  { secretValues, log }: Ports,
): Promise<void> {
  const { namespace, name, uid, generation, deletionTimestamp } = metadata;
  const isEnding = deletionTimestamp !== undefined;
  const isReported = (status.observedGeneration ?? 0) >= generation;
  if (references.length === 0 || (isReported && !isEnding)) return;
  const adopting = secretValues.adopt({ kind, namespace, name, uid, generation }, references);
  if (!isEnding) return adopting;
  // A namespace in deletion may have lost its RoleBindings, and loses its Secrets anyway.
  await adopting.catch((error: unknown) => log.warn({ op: "secret.adopt", kind, namespace, name, err: error }, "its secrets may remain"));
}
