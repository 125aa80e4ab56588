import type { ComponentResource } from "../../crds/component.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { checkConfiguredProps } from "../../domain/component/prop-values.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { buildFor, reloadDigest, type Configured, type ReloadResult } from "./additional-props.ts";
import type { Blocked } from "./blocked.ts";
import { currentBuild } from "./component.ts";
import type { SecretPropValues } from "./secret-props.ts";

/** A component with values, as a source or a step of a workflow uses it. */
export interface ComponentUse extends Configured {
  readonly namespace: string;
  readonly componentName: string;
  readonly component: ComponentResource | undefined;
  /** Values of its secret props; undefined without any. */
  readonly secrets: SecretPropValues | undefined;
  /** Result of the last call of `additionalProps`. */
  readonly reloaded?: ReloadResult | undefined;
}

export function componentExists({ component, componentName, namespace }: ComponentUse): Blocked | undefined {
  if (component !== undefined && component.metadata.deletionTimestamp === undefined) return undefined;
  return {
    reason: "ComponentNotFound",
    transient: true,
    message: `component ${componentName} does not exist in namespace ${namespace}`,
  };
}

export function componentIsBuilt({ component }: ComponentUse): Blocked | undefined {
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

export function secretsAreReadable({ secrets }: ComponentUse): Blocked | undefined {
  return secrets !== undefined && "blocked" in secrets ? secrets.blocked : undefined;
}

/** An error thrown by `additionalProps` blocks like a failed build. */
export function additionalPropsAreKnown(use: ComponentUse): Blocked | undefined {
  const { reloaded } = use;
  const desired = reloadDigest(use, use.component);
  return desired !== undefined && reloaded?.digest === desired && "blocked" in reloaded ? reloaded.blocked : undefined;
}

/** @param check further checks, which throw InvalidInput @param unchecked names of props whose values are only checked for presence */
export function propsAreValid(
  use: ComponentUse,
  check: (definition: ComponentDefinition) => void = () => undefined,
  unchecked: Iterable<string> = [],
): Blocked | undefined {
  const build = buildFor(use, use.component);
  if (build === undefined) return undefined;
  try {
    const { props, secrets } = use.spec;
    const values = use.secrets !== undefined && "values" in use.secrets ? use.secrets.values : {};
    const read = Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(secrets, name)));
    // Unread secrets are only known to exist.
    const unread = Object.keys(secrets).filter((name) => !Object.hasOwn(read, name));
    checkConfiguredProps(build.definition, { ...secrets, ...props, ...read }, new Set([...unread, ...unchecked]));
    check(build.definition);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { reason: "InvalidProps", transient: false, message: error.message };
  }
}
