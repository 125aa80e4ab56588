import { holderOf } from "../../../crds/secret-values.ts";
import { sourceKind, type SourceResource } from "../../../crds/source.ts";
import { componentKind } from "../../../crds/component.ts";
import type { SourceState } from "../../../domain/run/commit.ts";
import { observePlacement } from "../../deployable/deployable.ts";
import type { OperatorPorts } from "../../ports.ts";
import { buildFor } from "../../configured/additional-props.ts";
import { componentNameOf } from "./component-of.ts";
import type { Observed, Fallback } from "./observed.ts";
import { readOwnCode } from "./own-code.ts";
import {
  hasLiveSecrets,
  haveChanged,
  secretPropsOf,
  trySecretProps,
  usesAccounts,
  type SecretPropValues,
} from "../../configured/secret-props.ts";
import { isSettled } from "./settled.ts";
import { isOfVersion } from "../../versions.ts";

type Base = Pick<Observed, "source" | "id" | "owner" | "component" | "pool" | "movesTo" | "deployed">;

/** Reads everything a plan needs. For a settled source only what may have changed outside of it, which for most sources is nothing. */
export async function observe(source: SourceResource, id: string, ports: OperatorPorts): Promise<Observed> {
  const base = await observeBase(source, id, ports);
  const settled = isSettled(base);
  if (source.metadata.deletionTimestamp !== undefined)
    return {
      ...base,
      endpoint: undefined,
      code: undefined,
      secrets: undefined,
      secretsChanged: false,
      queued: base.deployed?.ending === undefined ? undefined : await ports.invocations.queued(base.pool, base.deployed.source),
      ...(await historyOf(base, ports)),
    };
  const { endpointKey } = source.status;
  const [past, endpoint, code, secrets] = await Promise.all([
    settled ? { hooks: {} } : historyOf(base, ports),
    settled || endpointKey === undefined ? undefined : ports.endpoints.get(endpointKey),
    settled && source.spec.codeFrom === undefined ? undefined : readOwnCode(base, ports),
    settled && !hasLiveSecrets(source) && !usesAccounts(source) ? undefined : secretsOf(base, ports),
  ]);
  const secretsChanged = secrets !== undefined && "values" in secrets && (await haveChanged(base.deployed, secrets.values, ports));
  const mayDeploy = settled && !(secrets !== undefined && "blocked" in secrets);
  return { ...base, endpoint, code, secrets, secretsChanged, fallback: mayDeploy ? undefined : await fallbackOf(base, ports), ...past };
}

async function observeBase(source: SourceResource, id: string, ports: OperatorPorts): Promise<Base> {
  const [component, placement] = await Promise.all([
    ports.store.find(componentKind, source.metadata.namespace, componentNameOf(source)),
    observePlacement(source, source.status.id, ports.deployments, ports),
  ]);
  return { ...placement, source, id, component };
}

/** The history belongs to the owner in the deployment entry, even if the namespace has another owner by now. */
async function historyOf({ source, owner, deployed }: Base, { histories }: OperatorPorts): Promise<Pick<SourceState, "hooks" | "kills">> {
  const historyOwner = deployed?.owner ?? owner;
  if (source.status.id === undefined || historyOwner === undefined) return { hooks: {} };
  const { hooks = {}, kills } = (await histories.state(historyOwner, source.status.id)) ?? {};
  return kills === undefined ? { hooks } : { hooks, kills };
}

async function secretsOf({ source, component }: Base, ports: OperatorPorts): Promise<SecretPropValues | undefined> {
  const build = buildFor(source, component);
  const props = build === undefined ? {} : secretPropsOf(source, build.definition);
  return Object.keys(props).length === 0 ? undefined : trySecretProps(holderOf(sourceKind, source), props, ports);
}

/** A version of another owner is never restored. */
async function fallbackOf({ source, owner, deployed }: Base, ports: OperatorPorts): Promise<Fallback | undefined> {
  const { id, runningGeneration } = source.status;
  if (id === undefined || runningGeneration === undefined) return undefined;
  const version = await ports.versions.get(id);
  if (version === undefined || version.deployment.owner !== owner) return undefined;
  const props = secretPropsOf(version, version.build.definition);
  if (Object.keys(props).length === 0) return { version, secrets: {}, secretsChanged: false };
  const read = await trySecretProps(holderOf(sourceKind, source), props, ports);
  const known = "values" in read ? { props, values: read.values } : read.without;
  if (known === undefined) return { version, secrets: "as they are", secretsChanged: false };
  const secretsChanged = isOfVersion(version, deployed) && (await haveChanged(deployed, known.values, ports));
  return { version, secrets: known.props, secretsChanged };
}
