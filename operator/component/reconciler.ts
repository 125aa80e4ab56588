import { componentKind, type ComponentSpec, type ComponentStatus, type ComponentResource } from "../../crds/component.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf, labelWithId, namespaceHasNoOwner } from "../identity.ts";
import { ownerRetryMs } from "../polling.ts";
import type { OperatorPorts } from "../ports.ts";

type Verdict = Parameters<typeof readyConditions>[0];

/** Reasons whose cause is outside the component: reconcile again although the generation has not changed. */
const transientReasons: readonly (string | undefined)[] = ["NamespaceHasNoOwner", "BuilderUnavailable", "BundlesFull"];
/** After a refusal because the owner's share of the store of bundles is used up. */
const bundlesFullRetryMs = 5 * 60_000;

/** Builds a component once per generation and reports the result. */
export function componentReconciler(ports: OperatorPorts) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(componentKind, namespace, name);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    if (isSettled(found)) return;
    const id = await idOf(ports, componentKind, found, "component");
    const component = await labelWithId(ports.store, componentKind, found, id);
    const owner = await ports.owners.ownerOf(namespace);
    if (owner === undefined) {
      await report(component, { id }, namespaceHasNoOwner(namespace), ports);
      return ownerRetryMs;
    }
    const { fields, verdict, cause } = await build(component.spec, owner, ports);
    if (cause !== undefined) {
      await report(component, { id }, verdict, ports);
      throw cause;
    }
    const reported = await report(component, { id, ...fields, updatedAt: ports.clock.now() }, verdict, ports);
    ports.events.record(reported, { type: verdict.ready ? "Normal" : "Warning", reason: verdict.reason, message: verdict.message });
    return verdict.reason === "BundlesFull" ? bundlesFullRetryMs : undefined;
  };
}

function isSettled({ metadata, status }: ComponentResource): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return status.observedGeneration === metadata.generation && status.id !== undefined && !transientReasons.includes(ready?.reason);
}

function report(component: ComponentResource, fields: Partial<ComponentStatus>, verdict: Verdict, { store, clock }: OperatorPorts) {
  return writeStatus(store, componentKind, component, { fields, conditions: readyConditions(verdict), now: clock.now() });
}

interface BuildResult {
  readonly fields: Partial<ComponentStatus>;
  readonly verdict: Verdict;
  /** The builder or registry is unreachable, which is not the component's fault: retry. */
  readonly cause?: Unavailable;
}

async function build(component: ComponentSpec, owner: string, ports: OperatorPorts): Promise<BuildResult> {
  try {
    const build = await ports.builds.build(component, owner);
    return { fields: { build }, verdict: { ready: true, reason: "Built", message: `built, ${build.bundleBytes} bytes` } };
  } catch (error) {
    if (error instanceof Unavailable)
      return { fields: {}, verdict: { ready: false, transient: true, reason: "BuilderUnavailable", message: error.message }, cause: error };
    if (!(error instanceof HeadwaterError)) throw error;
    if (error.code === "bundles_full")
      return { fields: {}, verdict: { ready: false, transient: true, reason: "BundlesFull", message: error.message } };
    return { fields: {}, verdict: { ready: false, reason: "BuildFailed", message: error.message } };
  }
}
