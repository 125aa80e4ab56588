import type { Kind, Resource } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import type { ApiPorts } from "../ports.ts";
import { confirmCreated } from "./change.ts";

/** @throws NotFound */
export async function checkPresent(owner: string, { accounts }: Pick<ApiPorts, "accounts">): Promise<void> {
  const found = isId("organization", owner) ? await accounts.findOrganization(owner) : await accounts.findUser(owner);
  if (found === undefined) throw new NotFound(`${owner} was deleted`);
}

/** Deletes a new resource whose owner was deleted in the meantime, because no one could delete it later. @throws NotFound */
export async function confirmOwned<S, T>(
  kind: Kind<S, T>,
  created: Resource<S, T>,
  owner: string,
  ports: Pick<ApiPorts, "accounts" | "store">,
): Promise<void> {
  await confirmCreated(kind, created, () => checkPresent(owner, ports), ports.store);
}
