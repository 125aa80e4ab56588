import { timersOf } from "../../../domain/source/source-timers.ts";
import { currentBuild } from "../../configured/component.ts";
import {
  additionalPropsAreKnown,
  componentExists,
  componentIsBuilt,
  propsAreValid as usedPropsAreValid,
  secretsAreReadable,
  type ComponentUse,
} from "../../configured/component-checks.ts";
import type { DeployedUse } from "../../deployable/deployable.ts";
import { nameTaken } from "../../configured/own-component.ts";
import { namespaceHasNoOwner } from "../../identity.ts";
import { componentNameOf, hasOwnCode } from "../observe/component-of.ts";
import type { Observed } from "../observe/observed.ts";
import type { Blocked } from "../observe/blocked.ts";

/** "Can it be deployed?" as a list of checks on the observed state. These apply before its own component is written. */
const codePolicies: readonly Policy[] = [namespaceHasOwner, nameIsFree, codeIsReadable];
const policies: readonly Policy[] = [
  ...codePolicies,
  ofUse(componentExists),
  ofUse(componentIsBuilt),
  componentIsNoAction,
  ofUse(secretsAreReadable),
  propsAreValid,
  ofUse(additionalPropsAreKnown),
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

function ofUse(check: (use: ComponentUse) => Blocked | undefined): Policy {
  return (observed) => check(useOf(observed));
}

export function useOf({ id, source, component, code, secrets, reloaded }: Observed): DeployedUse {
  const { metadata, spec, status } = source;
  const used = { namespace: metadata.namespace, componentName: componentNameOf(source), component, spec, status, secrets, reloaded };
  return { ...used, id, code, url: spec.url, isReadOnce: spec.url !== undefined };
}

function namespaceHasOwner({ source, owner }: Observed): Blocked | undefined {
  if (owner !== undefined) return undefined;
  return { ...namespaceHasNoOwner(source.metadata.namespace), poll: true };
}

function nameIsFree({ source, component }: Observed): Blocked | undefined {
  return hasOwnCode(source) ? nameTaken(source, component, "the code of this source") : undefined;
}

function codeIsReadable({ code }: Observed): Blocked | undefined {
  return code !== undefined && "blocked" in code ? code.blocked : undefined;
}

function componentIsNoAction({ component }: Observed): Blocked | undefined {
  if (currentBuild(component)?.definition.type !== "action") return undefined;
  return {
    reason: "ComponentIsAction",
    transient: false,
    message: `component ${component?.metadata.name ?? ""} is an action: only a component without a type, or of type source, can be deployed as a source`,
  };
}

function propsAreValid(observed: Observed): Blocked | undefined {
  return usedPropsAreValid(useOf(observed), (definition) => timersOf(definition, observed.source.spec.props));
}
