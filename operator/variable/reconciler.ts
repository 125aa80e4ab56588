import { holderOf } from "../../crds/secret-values.ts";
import { variableKind, type VariableResource } from "../../crds/variable.ts";
import { adopt, release } from "../controller/ownership.ts";
import { parseKey } from "../controller/informer.ts";
import { readyConditions, updatedAtOf, writeStatus, type Verdict } from "../controller/status.ts";
import { idOf, namespaceHasNoOwner } from "../identity.ts";
import { defaultExternalPollMs, ownerRetryMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import type { VariableEntries } from "./entries.ts";

const missingSecretRetryMs = 10_000;

/**
 * Gives a variable its id, owns its stored secret, and reports whether runs read it. The finalizer ensures that a deleted variable is no
 * longer in the entries of its owner.
 */
export function variableReconciler(
  ports: OperatorPorts,
  entries: VariableEntries,
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs"> = {},
) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(variableKind, namespace, name);
    if (found === undefined) return undefined;
    const id = await idOf(ports, variableKind, found, "variable");
    if (found.metadata.deletionTimestamp !== undefined) {
      await entries.writeAll(namespace);
      await release(ports.store, variableKind, found);
      return undefined;
    }
    const variable = await adopt(ports.store, variableKind, found, id);
    const hasOwner = (await ports.owners.ownerOf(namespace)) !== undefined;
    await settle(variable, ports);
    if (hasOwner) await entries.writeAll(namespace);
    const { verdict, bytes } = hasOwner
      ? await judge(variable, ports, entries)
      : { verdict: namespaceHasNoOwner(namespace), bytes: undefined };
    await report(variable, { id, verdict, bytes }, ports);
    if (!hasOwner) return ownerRetryMs;
    if (verdict.reason === "SecretNotFound") return spread(missingSecretRetryMs, ports);
    return variable.spec.valueFrom?.secretKeyRef === undefined ? undefined : spread(externalPollMs, ports);
  };
}

/** Writes the entries of all owners: after a start, and after a change of shared variables. */
export const variableEntriesReconciler =
  (entries: VariableEntries) =>
  async (_key: string, signal: AbortSignal): Promise<undefined> => {
    for (const namespace of entries.namespaces()) {
      signal.throwIfAborted();
      await entries.writeAll(namespace);
    }
  };

async function settle({ metadata, spec, status }: VariableResource, { secretValues }: OperatorPorts): Promise<void> {
  const { namespace, name, uid, generation } = metadata;
  if (status.observedGeneration === generation) return;
  const references = spec.valueFrom === undefined ? [] : [spec.valueFrom];
  await secretValues.settle({ ...holderOf(variableKind, { metadata: { namespace, name } }), uid, generation }, references);
}

async function judge(
  { metadata, spec }: VariableResource,
  { apps }: OperatorPorts,
  entries: VariableEntries,
): Promise<{ readonly verdict: Verdict; readonly bytes: number | undefined }> {
  const { namespace, name } = metadata;
  const { problems, bytes } = await entries.read(namespace);
  const isMisplaced = spec.shared === true && (await apps.sharedNamespace()) !== namespace;
  const problem: Verdict | undefined = isMisplaced
    ? {
        ready: false,
        reason: "NotShared",
        message: "only the organization that HEADWATER_SHARED_APPS_OWNER names has shared variables: create it there, or without `shared`",
      }
    : problems.get(name);
  const whose = spec.shared === true ? "workflows of all owners" : "workflows of the owner";
  return { verdict: problem ?? { ready: true, reason: "Set", message: `${whose} read it as env.${spec.name}` }, bytes: bytes.get(name) };
}

interface Reported {
  readonly id: string;
  readonly verdict: Verdict;
  readonly bytes: number | undefined;
}

async function report(variable: VariableResource, { id, verdict, bytes }: Reported, { store, clock }: OperatorPorts): Promise<void> {
  const now = clock.now();
  const fields = { id, updatedAt: updatedAtOf(variable, now), bytes };
  await writeStatus(store, variableKind, variable, { fields, conditions: readyConditions(verdict), now });
}
