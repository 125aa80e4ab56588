import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SecretHolder } from "../../crds/secret-values.ts";
import type { ApiPorts } from "../ports.ts";

/** Keeps secret texts by a name each, and says where each is. */
export type Keep = (texts: Readonly<Record<string, string>>) => Promise<Readonly<Record<string, SecretReference>>>;

/** For one request and one resource: a change that is tried again on a newer state keeps its texts once. */
export function keepOnce(holder: SecretHolder, { secretValues }: Pick<ApiPorts, "secretValues">): Keep {
  let kept: ReturnType<Keep> | undefined;
  return (texts) => (kept ??= secretValues.keep(holder, texts));
}

/** After the resource was written. The operator settles as well, so a failure here ends no request. */
export async function settleSecrets(
  { kind, metadata: { namespace, name, uid, generation } }: Resource,
  references: readonly SecretReference[],
  { secretValues, log }: Pick<ApiPorts, "secretValues" | "log">,
): Promise<void> {
  await secretValues
    .settle({ kind, namespace, name, uid, generation }, references)
    .catch((error: unknown) => log.warn({ op: "secret.settle", kind, namespace, name, err: error }, "secrets are settled later"));
}
