import { accountKind } from "../../crds/account.ts";
import { appKind } from "../../crds/app.ts";
import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { componentKind } from "../../crds/component.ts";
import { dataStoreKind } from "../../crds/data-store.ts";
import { oauthClientKind } from "../../crds/oauth-client.ts";
import type { Kind } from "../../crds/resource.ts";
import { allOf } from "../../crds/resource-store.ts";
import { sourceKind } from "../../crds/source.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { variableKind } from "../../crds/variable.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { NotFound } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { AuditEntry } from "../audit/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";

/** Deleted first: what runs, and what connects it. */
const runningKinds: readonly Kind[] = [autoSubscriptionKind, subscriptionKind, webhookKind, workflowKind, sourceKind];
/** Deleted once those are gone: a `deactivate` hook may still need them. */
const neededKinds: readonly Kind[] = [variableKind, dataStoreKind, accountKind, oauthClientKind, appKind, componentKind];
/** A further request goes on. */
const maxDeletions = 1_000;

export interface Remaining {
  readonly owner: string;
  readonly kind: string;
  /** Of at most 1,000 resources. */
  readonly count: number;
}

type Change = Pick<AuditEntry, "owner" | "kind" | "resourceId" | "resourceName">;

/** Deletions in the name of the admin. */
export interface Ending {
  readonly ports: ApiPorts;
  /** The entry of the audit log for a deletion. */
  readonly entryOf: (change: Change) => AuditEntry;
}

export const endingBy = (operation: string, address: string, ports: ApiPorts): Ending => ({
  ports,
  entryOf: (change) => ({
    ...change,
    id: newId("auditEntry", ports.randomBytes),
    at: ports.clock.now(),
    operation,
    action: "delete",
    fields: [],
    error: null,
    actor: { kind: "admin", address },
  }),
});

/**
 * Deletes all resources of an owner as the owner would: the operator runs hooks and removes queues, events, runs and state. So most are left
 * for some time: a repetition of the request deletes what is new, and reports the rest. Idempotent.
 */
export async function endResources(owner: string, ending: Ending): Promise<readonly Remaining[]> {
  const namespace = await ending.ports.owners.find(owner);
  if (namespace === undefined) return [];
  for (const kinds of [runningKinds, neededKinds]) {
    const budget = { deletions: maxDeletions };
    for (const kind of kinds) await deleteAll(kind, owner, namespace, budget, ending);
    const remaining = await countAll(kinds, owner, namespace, ending.ports);
    if (remaining.length > 0)
      return kinds === neededKinds ? remaining : [...remaining, ...(await countAll(neededKinds, owner, namespace, ending.ports))];
  }
  return [];
}

/** Also ends the organizations of which the user is the only member, and revokes the user's keys first: so nothing is created in the meantime. */
export async function endUser(user: string, ending: Ending): Promise<readonly Remaining[]> {
  const { accounts } = ending.ports;
  for (const { id, name } of await accounts.listKeys(user)) {
    const entry = ending.entryOf({ owner: user, kind: "ApiKey", resourceId: id, resourceName: name });
    await accounts
      .recording(() => entry)
      .revokeKey(user, id)
      .catch(unlessGone);
  }
  const remaining = [...(await endResources(user, ending))];
  for (const { id, name } of await accounts.organizationsOf(user)) {
    if ((await accounts.listMembers(id)).length > 1) continue;
    const left = await endResources(id, ending);
    remaining.push(...left);
    if (left.length > 0) continue;
    const entry = ending.entryOf({ owner: id, kind: "Organization", resourceId: id, resourceName: name });
    await accounts.recording(() => entry).deleteOrganization(id, user);
  }
  return remaining;
}

async function deleteAll(kind: Kind, owner: string, namespace: string, budget: { deletions: number }, ending: Ending): Promise<void> {
  const { store, deliveries } = ending.ports;
  for await (const resource of allOf(store, kind, { namespace })) {
    const { name, deletionTimestamp } = resource.metadata;
    if (deletionTimestamp !== undefined) continue;
    if (budget.deletions-- <= 0) return;
    await store.delete(kind, namespace, name).catch(unlessGone);
    const id = publicIdOf(resource);
    if (kind.kind === webhookKind.kind) await deliveries.deleteWebhook(id);
    await record(ending.entryOf({ owner, kind: kind.kind, resourceId: id, resourceName: name }), ending.ports);
  }
}

/** The deletion is made: a failure to record it must not repeat it. */
async function record(entry: AuditEntry, { auditLog, log }: ApiPorts): Promise<void> {
  await auditLog
    .record(entry)
    .catch((failure: unknown) => log.error({ op: "audit.record", entry, err: failure }, "a change is not in the audit log"));
}

async function countAll(kinds: readonly Kind[], owner: string, namespace: string, { store }: ApiPorts): Promise<readonly Remaining[]> {
  const counts = await Promise.all(
    kinds.map(async (kind) => ({ owner, kind: kind.kind, count: (await store.list(kind, { namespace })).items.length })),
  );
  return counts.filter(({ count }) => count > 0);
}

function unlessGone(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
