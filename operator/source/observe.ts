import { componentKind } from "../../crds/component.ts";
import type { SourceState } from "../../domain/commit.ts";
import { hasMoved, type Deployment } from "../../domain/deployment.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { defaultPool, deploymentKey } from "../../domain/subjects.ts";
import type { OperatorPorts } from "../ports.ts";
import { buildFor } from "./additional-props.ts";
import { componentNameOf } from "./component-of.ts";
import type { Observed, SourceResource, Standing } from "./observed.ts";
import { readOwnCode } from "./own-code.ts";
import { digestOf, hasLiveSecrets, secretPropsOf, trySecretProps, usesAccounts, type SecretPropValues } from "./secret-props.ts";
import { isSettled } from "./settled.ts";
import { isOfVersion } from "./version.ts";

type Near = Pick<Observed, "source" | "owner" | "component" | "pool" | "movesTo" | "deployed">;

/** Does all the reading for a plan. Of a settled source only what may have changed elsewhere is read: most have no such thing. */
export async function observe(source: SourceResource, ports: OperatorPorts): Promise<Observed> {
  const near = await observeNear(source, ports);
  const settled = isSettled(near);
  if (source.metadata.deletionTimestamp !== undefined)
    return { ...near, endpoint: undefined, code: undefined, secrets: undefined, secretsChanged: false, ...(await pastOf(near, ports)) };
  const { endpointKey } = source.status;
  const [past, endpoint, code, secrets] = await Promise.all([
    settled ? { hooks: {} } : pastOf(near, ports),
    settled || endpointKey === undefined ? undefined : ports.endpoints.get(endpointKey),
    settled && source.spec.codeFrom === undefined ? undefined : readOwnCode(near, ports),
    settled && !hasLiveSecrets(source) && !usesAccounts(source) ? undefined : secretsOf(near, ports),
  ]);
  const secretsChanged = secrets !== undefined && "values" in secrets && (await differ(near.deployed, secrets.values, ports));
  const mayDeploy = settled && !(secrets !== undefined && "blocked" in secrets);
  return { ...near, endpoint, code, secrets, secretsChanged, standing: mayDeploy ? undefined : await standingOf(near, ports), ...past };
}

async function observeNear(source: SourceResource, ports: OperatorPorts): Promise<Near> {
  const { namespace } = source.metadata;
  const { id } = source.status;
  const owner = await ports.owners.ownerOf(namespace);
  const wantedPool = owner === undefined ? undefined : ports.pools.poolOf(owner);
  const pool = source.status.pool ?? wantedPool ?? defaultPool;
  const [component, entry] = await Promise.all([
    ports.store.find(componentKind, namespace, componentNameOf(source)),
    id === undefined ? undefined : ports.deployments.get(deploymentKey(pool, id)),
  ]);
  const deployed = entry === undefined || hasMoved(entry) ? undefined : entry;
  const movesTo = wantedPool === undefined || pool === wantedPool ? undefined : wantedPool;
  return { source, owner, component, pool, movesTo, deployed };
}

/** What is deployed ran for the owner that its entry names, also when the namespace has lost its label or has another one by now. */
async function pastOf({ source, owner, deployed }: Near, { histories }: OperatorPorts): Promise<Pick<SourceState, "hooks" | "kills">> {
  const whose = deployed?.owner ?? owner;
  if (source.status.id === undefined || whose === undefined) return { hooks: {} };
  const { hooks = {}, kills } = (await histories.state(whose, source.status.id)) ?? {};
  return kills === undefined ? { hooks } : { hooks, kills };
}

async function secretsOf({ source, component }: Near, ports: OperatorPorts): Promise<SecretPropValues | undefined> {
  const build = buildFor(source, component);
  const props = build === undefined ? {} : secretPropsOf(source, build.definition);
  return Object.keys(props).length === 0 ? undefined : trySecretProps(source.metadata.namespace, props, ports);
}

/** An entry that was sealed by a key which is gone is written anew. */
async function differ(deployed: Deployment | undefined, values: Readonly<Record<string, unknown>>, ports: OperatorPorts): Promise<boolean> {
  if (deployed === undefined) return false;
  if (deployed.secretsSeen === undefined) return Object.keys(values).length > 0;
  try {
    return (await ports.secrets.open(deployed.secretsSeen)) !== digestOf(values);
  } catch (error) {
    if (error instanceof InvalidInput) return true;
    throw error;
  }
}

/** A version of another owner is never returned to. */
async function standingOf({ source, owner, deployed }: Near, ports: OperatorPorts): Promise<Standing | undefined> {
  const { id, runningGeneration } = source.status;
  if (id === undefined || runningGeneration === undefined) return undefined;
  const version = await ports.versions.get(id);
  if (version === undefined || version.deployment.owner !== owner) return undefined;
  const props = secretPropsOf(version, version.build.definition);
  if (Object.keys(props).length === 0) return { version, secrets: {}, secretsChanged: false };
  const read = await trySecretProps(source.metadata.namespace, props, ports);
  const known = "values" in read ? { props, values: read.values } : read.without;
  if (known === undefined) return { version, secrets: "as they are", secretsChanged: false };
  const secretsChanged = isOfVersion(version, deployed) && (await differ(deployed, known.values, ports));
  return { version, secrets: known.props, secretsChanged };
}
