import type { DataStoreResource } from "../../crds/data-store.ts";
import { sourceKind } from "../../crds/source.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { storeOf } from "../../domain/component/store-props.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import { asItRuns, type SourceResource } from "../resources/source.ts";
import { findUsers } from "../resources/users-of.ts";

export interface StoreUsers {
  readonly sources: readonly SourceResource[];
  readonly workflows: readonly WorkflowResource[];
}

/** Sources and workflows whose spec or running version names the store, by its id or its name. */
export async function usersOfStore(store: DataStoreResource, { ports }: Pick<ApiContext, "ports">): Promise<StoreUsers> {
  const { namespace, name } = store.metadata;
  const found = await Promise.all(
    [...new Set([publicIdOf(store), name])].map(async (reference) => {
      const used = { namespace, mentions: reference };
      const names = (props: Readonly<Record<string, unknown>>): boolean =>
        Object.values(props).some((value) => storeOf(value) === reference);
      const [sources, workflows] = await Promise.all([
        findUsers(sourceKind, { ...used, uses: (source) => [source, asItRuns(source)].some(({ spec }) => names(spec.props)) }, ports),
        findUsers(workflowKind, { ...used, uses: ({ spec }) => stepsOf(spec).some(({ node }) => names(node.props)) }, ports),
      ]);
      return { sources, workflows };
    }),
  );
  return {
    sources: distinct(found.flatMap(({ sources }) => sources)),
    workflows: distinct(found.flatMap(({ workflows }) => workflows)),
  };
}

const distinct = <User extends SourceResource | WorkflowResource>(users: readonly User[]): readonly User[] => [
  ...new Map(users.map((user) => [user.metadata.name, user])).values(),
];
