import { InvalidInput } from "../../../domain/errors.ts";
import { checkConfiguredProps } from "../../../domain/component/prop-values.ts";
import { timersOf } from "../../../domain/schedule/source-timers.ts";
import { namespaceHasNoOwner } from "../../identity.ts";
import { buildFor, reloadDigest } from "../apply/additional-props.ts";
import type { Blocked } from "./blocked.ts";
import { componentNameOf, currentBuild, hasOwnCode, isMadeFor } from "../observe/component-of.ts";
import type { Observed } from "../observe/observed.ts";

/** "Can it be deployed?" as a list of checks on the observed state. These apply before its own component is written. */
const codePolicies: readonly Policy[] = [namespaceHasOwner, nameIsFree, codeIsReadable];
const policies: readonly Policy[] = [
  ...codePolicies,
  componentExists,
  componentIsBuilt,
  componentIsNoAction,
  secretsAreReadable,
  propsAreValid,
  additionalPropsAreKnown,
];
type Policy = (observed: Observed) => Blocked | undefined;

export function blockedBy(observed: Observed): Blocked | undefined {
  return firstOf(policies, observed);
}

/** Why its own component cannot be written. */
export function codeBlockedBy(observed: Observed): Blocked | undefined {
  return firstOf(codePolicies, observed);
}

function firstOf(asked: readonly Policy[], observed: Observed): Blocked | undefined {
  for (const policy of asked) {
    const blocked = policy(observed);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

function namespaceHasOwner({ source, owner }: Observed): Blocked | undefined {
  if (owner !== undefined) return undefined;
  return { ...namespaceHasNoOwner(source.metadata.namespace), poll: true };
}

function nameIsFree({ source, component }: Observed): Blocked | undefined {
  if (!hasOwnCode(source) || component === undefined || isMadeFor(source, component)) return undefined;
  return {
    reason: "NameTaken",
    transient: false,
    message: `component ${component.metadata.name} exists already, and the code of this source needs that name: delete or rename one of them`,
  };
}

function codeIsReadable({ code }: Observed): Blocked | undefined {
  return code !== undefined && "blocked" in code ? code.blocked : undefined;
}

function componentExists({ source, component }: Observed): Blocked | undefined {
  if (component !== undefined && component.metadata.deletionTimestamp === undefined) return undefined;
  return {
    reason: "ComponentNotFound",
    transient: true,
    message: `component ${componentNameOf(source)} does not exist in namespace ${source.metadata.namespace}`,
  };
}

function componentIsBuilt({ component }: Observed): Blocked | undefined {
  if (component === undefined || currentBuild(component) !== undefined) return undefined;
  const { name, generation } = component.metadata;
  const stalled = component.status.conditions?.find(
    ({ type, status, observedGeneration }) => type === "Stalled" && status === "True" && observedGeneration === generation,
  );
  if (stalled === undefined) return { reason: "ComponentNotBuilt", transient: true, message: `component ${name} is being built` };
  return {
    reason: "ComponentFailed",
    transient: false,
    message: `component ${name} cannot be built: ${stalled.message}`,
  };
}

function componentIsNoAction({ component }: Observed): Blocked | undefined {
  if (currentBuild(component)?.definition.type !== "action") return undefined;
  return {
    reason: "ComponentIsAction",
    transient: false,
    message: `component ${component?.metadata.name ?? ""} is an action: only a component without a type, or of type source, can be deployed as a source`,
  };
}

function secretsAreReadable({ secrets }: Observed): Blocked | undefined {
  return secrets !== undefined && "blocked" in secrets ? secrets.blocked : undefined;
}

/** An error thrown by `additionalProps` blocks the source like a failed build. */
function additionalPropsAreKnown({ source, component, reloaded }: Observed): Blocked | undefined {
  const desired = reloadDigest(source, component);
  return desired !== undefined && reloaded?.digest === desired && "blocked" in reloaded ? reloaded.blocked : undefined;
}

function propsAreValid(observed: Observed): Blocked | undefined {
  const build = buildFor(observed.source, observed.component);
  if (build === undefined) return undefined;
  try {
    const { props, secrets } = observed.source.spec;
    const values = observed.secrets !== undefined && "values" in observed.secrets ? observed.secrets.values : {};
    const read = Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(secrets, name)));
    // Unread secrets are only known to exist.
    const unread = Object.keys(secrets).filter((name) => !Object.hasOwn(read, name));
    checkConfiguredProps(build.definition, { ...secrets, ...props, ...read }, new Set(unread));
    timersOf(build.definition, observed.source.spec.props);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { reason: "InvalidProps", transient: false, message: error.message };
  }
}
