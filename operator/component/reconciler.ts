import { componentKind, type ComponentSpec, type ComponentStatus } from "../../crds/component.ts";
import type { Resource } from "../../crds/resource.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf, labelWithId, lookForOwnerMs, namespaceHasNoOwner } from "../identity.ts";
import type { OperatorPorts } from "../ports.ts";

type ComponentResource = Resource<ComponentSpec, ComponentStatus>;
type Verdict = Parameters<typeof readyConditions>[0];

/** Of a component that is looked at again although its generation was: what kept it from being built lies elsewhere. */
const passingReasons: readonly (string | undefined)[] = ["NamespaceHasNoOwner", "BuilderUnavailable"];

/** Has a component built, once for each generation, and says how that went. */
export function componentReconciler(ports: OperatorPorts) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(componentKind, namespace, name);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    if (isJudged(found)) return;
    const id = await idOf(ports, componentKind, found, "component");
    const component = await labelWithId(ports.store, componentKind, found, id);
    const owner = await ports.owners.ownerOf(namespace);
    if (owner === undefined) {
      await say(component, { id }, namespaceHasNoOwner(namespace), ports);
      return lookForOwnerMs;
    }
    // A build is asked for whole: what is read from a cache may lack the code.
    const { spec } = await ports.store.get(componentKind, namespace, name);
    const { fields, verdict, cause } = await built(spec, owner, ports);
    if (cause !== undefined) {
      await say(component, { id }, verdict, ports);
      throw cause;
    }
    const told = await say(component, { id, ...fields, updatedAt: ports.clock.now() }, verdict, ports);
    ports.events.tell(told, { type: verdict.ready ? "Normal" : "Warning", reason: verdict.reason, message: verdict.message });
    return;
  };
}

function isJudged({ metadata, status }: ComponentResource): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return status.observedGeneration === metadata.generation && status.id !== undefined && !passingReasons.includes(ready?.reason);
}

function say(component: ComponentResource, fields: Partial<ComponentStatus>, verdict: Verdict, { store, clock }: OperatorPorts) {
  return writeStatus(store, componentKind, component, { fields, conditions: readyConditions(verdict), now: clock.now() });
}

interface Built {
  readonly fields: Partial<ComponentStatus>;
  readonly verdict: Verdict;
  /** Builder or registry cannot be reached, which is no fault of the component: try again. */
  readonly cause?: Unavailable;
}

async function built(component: ComponentSpec, owner: string, ports: OperatorPorts): Promise<Built> {
  try {
    const build = await ports.builds.build(component, owner);
    return { fields: { build }, verdict: { ready: true, reason: "Built", message: `built, ${build.bundleBytes} bytes` } };
  } catch (error) {
    if (error instanceof Unavailable)
      return { fields: {}, verdict: { ready: false, passing: true, reason: "BuilderUnavailable", message: error.message }, cause: error };
    if (!(error instanceof HeadwaterError)) throw error;
    return { fields: {}, verdict: { ready: false, reason: "BuildFailed", message: error.message } };
  }
}
