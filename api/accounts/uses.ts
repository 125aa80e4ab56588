import { accountIdsAmong } from "../../domain/component/account-props.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import type { Answered } from "../http/response/answered.ts";
import { publicIdOf } from "../resources/identity.ts";
import { findPropUsers, type PropUsers } from "../resources/prop-users.ts";
import { readText } from "../resources/stored-fields.ts";
import type { accountUseSchema } from "./schemas.ts";
import type { AccountResource } from "./spec.ts";

/** Those that use the account, up to `max` of each kind. */
export function usesOf(account: AccountResource, { ports }: Pick<ApiContext, "ports">, max?: number): Promise<PropUsers> {
  const { namespace, name } = account.metadata;
  // They may also refer to the account by its resource name.
  const references = [publicIdOf(account), idOfResourceName(name)].filter((id) => id !== undefined);
  return findPropUsers({ namespace, references, refersTo: (props, id) => accountIdsAmong(props).includes(id) }, ports, max);
}

export function usesResponse({ sources, workflows }: PropUsers): Answered<typeof accountUseSchema>[] {
  const shown = (kind: "source" | "workflow") => (user: PropUsers["sources" | "workflows"][number]) => ({
    kind,
    id: publicIdOf(user),
    name: readText(user.spec.name) ?? user.metadata.name,
  });
  return [...sources.map(shown("source")), ...workflows.map(shown("workflow"))];
}
