import { accountsConnected } from "../../crds/source-health.ts";
import type { Resource } from "../../crds/resource.ts";
import { findAccount } from "../configured/account-auth.ts";
import { connectedVerdict } from "../configured/account-problems.ts";
import { sameStatus, setConditions } from "../controller/conditions.ts";
import { withFields } from "../controller/status.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Deployable, DeployableStatus } from "./deployable.ts";
import { withHealth } from "./report.ts";

/**
 * Reports in the status whether a person must connect an account of the resource again. It goes on with the last credentials, so this is
 * no reason not to be ready. Changes of accounts are watched. A resource that never had such an account has no condition.
 */
export async function reportAccounts<S, T extends DeployableStatus>(
  resource: Resource<S, T>,
  { kind, accountsOf, healthOf }: Pick<Deployable<S, T, never, never>, "kind" | "accountsOf" | "healthOf">,
  { store, clock, events }: Pick<OperatorPorts, "store" | "clock" | "events">,
): Promise<void> {
  const { metadata, status } = resource;
  const { conditions = [] } = status;
  const accounts = await Promise.all(accountsOf(resource).map((id) => findAccount(metadata.namespace, id, { store })));
  const verdict = connectedVerdict(accounts.filter((account) => account !== undefined));
  const { status: holds, reason, message } = verdict;
  const isKnown = conditions.some(({ type }) => type === accountsConnected);
  if (holds === "True" && !isKnown) return;
  const condition = { type: accountsConnected, observedGeneration: metadata.generation, ...verdict };
  const next = withFields(status, { conditions: setConditions(conditions, [condition], clock.now()) });
  const reported = withHealth(resource, next, healthOf);
  if (sameStatus(reported, status)) return;
  await store.updateStatus(kind, { ...resource, status: reported });
  if (holds === "False") events.record(resource, { type: "Warning", reason, message });
}
