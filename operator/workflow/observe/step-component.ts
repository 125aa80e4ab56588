import { hash } from "node:crypto";
import type { ComponentResource } from "../../../crds/component.ts";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import type { WorkflowResource, WorkflowStep } from "../../../crds/workflow.ts";
import { codeBytes, codeLimits, type ComponentCode } from "../../../domain/component/component-code.ts";
import { ownComponentName } from "../../configured/component.ts";
import { asWritten, isOfGeneration, readUrl, type OwnCode } from "../../configured/own-code.ts";
import type { OperatorPorts } from "../../ports.ts";

/** Cached lookup of built components. */
export interface ComponentLookup {
  /** Components of a namespace with this key in their definition. */
  withKey(namespace: string, key: string): readonly ComponentResource[];
}

/** The component of a step: where it is, and the code for one of its own. */
export interface StepComponent {
  readonly componentName: string;
  readonly component: ComponentResource | undefined;
  readonly code: OwnCode | undefined;
  readonly registryKey: string | undefined;
}

/** Name of the component made for a step: `<workflow>-<step>-code`. Steps whose names differ only in case get different ones. */
export function stepComponentName(workflow: string, step: string): string {
  const slug = step.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return ownComponentName(slug === step ? `${workflow}-${slug}` : `${workflow}-${slug}-${hash("sha256", step).slice(0, 8)}`);
}

export async function observeComponent(
  workflow: WorkflowResource,
  step: WorkflowStep,
  owner: string | undefined,
  ports: OperatorPorts,
  lookup: ComponentLookup,
): Promise<StepComponent> {
  const { namespace } = workflow.metadata;
  const { componentRef, componentKey } = step;
  const keyed = componentKey === undefined ? undefined : newest(lookup.withKey(namespace, componentKey));
  const shared = componentRef?.name ?? keyed?.metadata.name;
  const componentName = shared ?? stepComponentName(workflow.metadata.name, step.name);
  const component = await ports.store.find(componentKind, namespace, componentName);
  if (shared !== undefined) return { componentName, component, code: undefined, registryKey: undefined };
  const code = await readCode(workflow, step, component, owner, ports);
  return { componentName, component, code, registryKey: componentKey };
}

async function readCode(
  workflow: WorkflowResource,
  step: WorkflowStep,
  component: ComponentResource | undefined,
  owner: string | undefined,
  ports: OperatorPorts,
): Promise<OwnCode | undefined> {
  const { code, entry, files, url, componentKey } = step;
  if (code !== undefined) return checked(asWritten({ code, entry, files }));
  if (url !== undefined) return readUrl(url, { maker: workflow, component, owner }, ports);
  return componentKey === undefined ? undefined : readRegistry(componentKey, workflow, component, ports);
}

/** The schema of workflows counts only the characters of the code. */
function checked(own: { readonly code: ComponentCode }): OwnCode {
  const bytes = codeBytes(own.code);
  if (bytes <= codeLimits.bytes) return own;
  const message = `the code and its files have ${bytes} bytes, ${codeLimits.bytes} are allowed: import from npm what they contain`;
  return { blocked: { reason: "CodeInvalid", transient: false, message } };
}

/** An update of Headwater brings new code only to workflows that are changed. */
async function readRegistry(
  key: string,
  workflow: WorkflowResource,
  component: ComponentResource | undefined,
  { registry }: Pick<OperatorPorts, "registry">,
): Promise<OwnCode> {
  if (component?.metadata.labels[labels.registry] === key && isOfGeneration(component, workflow)) return asWritten(component.spec);
  const code = await registry.find(key);
  if (code !== undefined) return { code };
  const message = `no component with the key '${key}' is found, neither in the namespace nor in the registry: GET /v1/components/registry lists those`;
  return { blocked: { reason: "ComponentNotFound", transient: true, message } };
}

/** Copies of the registry's components do not count: the workflow then gets a copy of its own. */
function newest(components: readonly ComponentResource[]): ComponentResource | undefined {
  return components
    .filter(({ metadata }) => metadata.labels[labels.registry] === undefined && metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1))[0];
}
