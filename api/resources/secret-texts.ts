import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SecretHolder } from "../../crds/secret-values.ts";
import type { ApiPorts } from "../ports.ts";

/** Stores secret texts by name, and returns a reference for each. */
export type Keep = (texts: Readonly<Record<string, string>>) => Promise<Readonly<Record<string, SecretReference>>>;

/** Stores the texts of one request for one resource only once, also if a conflict makes the request retry its change. */
export function keepOnce(holder: SecretHolder, { secretValues }: Pick<ApiPorts, "secretValues">): Keep {
  let kept: ReturnType<Keep> | undefined;
  return (texts) => (kept ??= secretValues.keep(holder, texts));
}

/** Call after writing the resource. The operator settles as well, so a failure here does not fail the request. */
export async function settleSecrets(
  { kind, metadata: { namespace, name, uid, generation } }: Resource,
  references: readonly SecretReference[],
  { secretValues, log }: Pick<ApiPorts, "secretValues" | "log">,
): Promise<void> {
  await secretValues
    .settle({ kind, namespace, name, uid, generation }, references)
    .catch((error: unknown) => log.warn({ op: "secret.settle", kind, namespace, name, err: error }, "secrets are settled later"));
}
