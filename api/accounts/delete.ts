import { accountKind } from "../../crds/account.ts";
import { sourceKind } from "../../crds/source.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { accountIdsAmong } from "../../domain/component/account-props.ts";
import { Conflict } from "../../domain/errors.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { findUsers, idsOf, namedUsers } from "../resources/users-of.ts";
import type { ApiContext } from "../context.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";
import type { AccountResource } from "./spec.ts";

/** @throws Conflict while sources or workflows use it, unless `force` */
export async function deleteAccount(account: AccountResource, force: boolean, { ports }: ApiContext): Promise<void> {
  const { namespace, name } = account.metadata;
  // Sources may also refer to the account by its resource name.
  const ids = new Set([publicIdOf(account), idOfResourceName(name)].filter((id) => id !== undefined));
  if (!force) for (const id of ids) await refuseInUse(id, namespace, ports);
  // Best effort and bounded: a service that is away must not keep the account.
  if (account.spec.connection !== undefined)
    await ports.connector.revoke({ namespace, name }).catch((error: unknown) => {
      ports.log.warn(
        { op: "account.revoke", "account.id": publicIdOf(account), err: error },
        "its tokens may still be valid at the service",
      );
    });
  await unlessDeleted(ports.store.delete(accountKind, namespace, name));
}

async function refuseInUse(id: string, namespace: string, ports: ApiContext["ports"]): Promise<void> {
  const used = { namespace, mentions: id };
  const [sources, workflows] = await Promise.all([
    findUsers(sourceKind, { ...used, uses: (source) => sourceUses(source, id) }, ports),
    findUsers(workflowKind, { ...used, uses: (workflow) => workflowUses(workflow, id) }, ports),
  ]);
  const users = [...sources, ...workflows];
  if (users.length === 0) return;
  throw new Conflict(
    `account ${id} is used by ${namedUsers(users)}: choose another account there, delete them, or delete the account anyway with force=true`,
    { code: "account_in_use", details: { sources: idsOf(sources), workflows: idsOf(workflows) } },
  );
}

/** Whether the spec or the running version uses the account. */
const sourceUses = (source: SourceResource, account: string): boolean =>
  [source, asItRuns(source)].some(({ spec }) => accountIdsAmong(spec.props).includes(account));

const workflowUses = ({ spec }: WorkflowResource, account: string): boolean =>
  stepsOf(spec).some(({ node }) => accountIdsAmong(node.props).includes(account));
