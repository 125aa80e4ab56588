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
