import { sourceKind } from "../../crds/source.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { accountIdsAmong } from "../../domain/component/account-props.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { Answered } from "../http/response/answered.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";
import { readText } from "../resources/stored-fields.ts";
import { findUsers } from "../resources/users-of.ts";
import type { accountUseSchema } from "./schemas.ts";
import type { AccountResource } from "./spec.ts";

export interface AccountUses {
  readonly sources: readonly SourceResource[];
  readonly workflows: readonly WorkflowResource[];
}

/** Sources and workflows whose spec or running version names the account, up to `max` of each. */
export async function usesOf(account: AccountResource, { ports }: Pick<ApiContext, "ports">, max?: number): Promise<AccountUses> {
  const { namespace, name } = account.metadata;
  // They may also refer to the account by its resource name.
  const ids = [...new Set([publicIdOf(account), idOfResourceName(name)])].filter((id) => id !== undefined);
  const found = await Promise.all(
    ids.map(async (id) => {
      const used = { namespace, mentions: id };
      const [sources, workflows] = await Promise.all([
        findUsers(sourceKind, { ...used, uses: (source) => sourceUses(source, id) }, ports, max),
        findUsers(workflowKind, { ...used, uses: (workflow) => workflowUses(workflow, id) }, ports, max),
      ]);
      return { sources, workflows };
    }),
  );
  return {
    sources: distinct(found.flatMap(({ sources }) => sources)).slice(0, max),
    workflows: distinct(found.flatMap(({ workflows }) => workflows)).slice(0, max),
  };
}

export function usesResponse({ sources, workflows }: AccountUses): Answered<typeof accountUseSchema>[] {
  const shown = (kind: "source" | "workflow") => (user: SourceResource | WorkflowResource) => ({
    kind,
    id: publicIdOf(user),
    name: readText(user.spec.name) ?? user.metadata.name,
  });
  return [...sources.map(shown("source")), ...workflows.map(shown("workflow"))];
}

const sourceUses = (source: SourceResource, account: string): boolean =>
  [source, asItRuns(source)].some(({ spec }) => accountIdsAmong(spec.props).includes(account));

const workflowUses = ({ spec }: WorkflowResource, account: string): boolean =>
  stepsOf(spec).some(({ node }) => accountIdsAmong(node.props).includes(account));

function distinct<User extends SourceResource | WorkflowResource>(users: readonly User[]): readonly User[] {
  return [...new Map(users.map((user) => [user.metadata.name, user])).values()];
}
