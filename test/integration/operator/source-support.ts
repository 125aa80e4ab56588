import type { Resource } from "../../../crds/resource.ts";
import { sourceKind, type SourceResource, type SourceSpec } from "../../../crds/source.ts";
import { Conflict } from "../../../domain/errors.ts";
import { hasMoved, type Deployment } from "../../../domain/source/deployment.ts";
import { defaultPool, deploymentKey } from "../../../domain/subjects.ts";
import { componentReconciler } from "../../../operator/component/reconciler.ts";
import { ownComponentName } from "../../../operator/configured/component.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorConfig, OperatorPorts } from "../../../operator/ports.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import type { OperatorWorld } from "./world.ts";

export const idOf = (source: Resource): string => source.metadata.labels["headwater.dev/id"] ?? "";

type Look = () => Promise<number | undefined>;

/** One operator over a source and the component with its code. @param look reconciles the source @returns a pass: ms until the next one */
export function sourceOperator(
  source: Resource,
  ports: OperatorPorts,
  config: Partial<OperatorConfig> = {},
  look: (reconcile: Look) => Promise<number | undefined> = (reconcile) => reconcile(),
): Look {
  const reconciler = sourceReconciler({ ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000, ...config }, ports, new Slugs());
  const reconcile = (): Promise<number | undefined> => look(() => reconciler(keyOf(source), new AbortController().signal));
  return async () => {
    const first = await reconcile();
    await componentReconciler(ports)(`${source.metadata.namespace}/${ownComponentName(source.metadata.name)}`);
    return (await reconcile()) ?? first;
  };
}

/** Sources of an operator's world. */
export function sourcesIn(world: OperatorWorld) {
  const now = ({ metadata }: Resource): Promise<SourceResource> => world.ports.store.get(sourceKind, metadata.namespace, metadata.name);
  return {
    now,
    readyOf: async (source: Resource) => (await now(source)).status.conditions?.find(({ type }) => type === "Ready"),
    async change(source: Resource, spec: Partial<SourceSpec>): Promise<SourceResource> {
      for (;;) {
        const current = await now(source);
        try {
          return await world.ports.store.update(sourceKind, { ...current, spec: { ...current.spec, ...spec } });
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
        }
      }
    },
    async entryOf(source: Resource, pool = defaultPool): Promise<Deployment | undefined> {
      const entry = await world.ports.deployments.get(deploymentKey(pool, idOf(source)));
      return entry === undefined || hasMoved(entry) ? undefined : entry;
    },
  };
}
