import { setTimeout as pause } from "node:timers/promises";
import { componentKind } from "../../../crds/component.ts";
import { finalizer, labels, type Condition, type Kind, type Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { sourceKind, type SourceSpec, type SourceStatus } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { variableKind } from "../../../crds/variable.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import { idOfResourceName } from "../../../domain/ids.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { nameSlug, uniqueSlug } from "../../../domain/name-slug.ts";
import { release } from "../../../operator/controller/ownership.ts";
import { fakeBuild } from "./fake-builds.ts";

/**
 * Sets the conditions that the real operator would set, at once; `stuck` in a name leaves the resource as it is. Resolves once it has
 * listed all kinds: it observes every resource that is created afterwards.
 */
export async function startFakeOperator(store: ResourceStore): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const slugs = new Map<string, string>();
  const running = await Promise.all([
    observe(store, componentKind, stopping.signal, async (component) => {
      const { status } = component;
      if (status.observedGeneration === component.metadata.generation) return undefined;
      return {
        ...component,
        status: {
          ...status,
          id: idOf(component),
          build: fakeBuild(component.spec.code),
          ...conditions(component, "Ready", "Built"),
        },
      };
    }),
    observe(store, sourceKind, stopping.signal, async (source) => {
      if (source.status.observedGeneration === source.metadata.generation || nameOf(source).includes("stuck")) return undefined;
      const { namespace, name } = source.metadata;
      // As the real one: code within the source becomes a component of its own.
      const component = source.spec.componentRef?.name ?? `${name}-code`;
      if (source.spec.code !== undefined) await ensureComponent(store, namespace, component, source.spec.code);
      const { spec } = await store.get(componentKind, namespace, component);
      return deployed({ ...source, status: { ...source.status, component } }, spec.code, slugs);
    }),
    observe(store, workflowKind, stopping.signal, async (workflow) => {
      const { metadata, spec, status } = workflow;
      const name = spec.name ?? metadata.name;
      if (status.observedGeneration === metadata.generation || name.includes("stuck")) return undefined;
      const [id, generation] = [idOf(workflow), metadata.generation];
      const steps = spec.steps.map((step) => ({
        name: step.name,
        id: stepId(id, step.name),
        component: step.componentRef?.name ?? `${metadata.name}-${step.name.toLowerCase()}`,
      }));
      const fields = { ...status, id, endpoint: `http://ingress.test/${id}`, steps, updatedAt: Date.now() };
      if (name.includes("undeployable")) return { ...workflow, status: { ...fields, ...conditions(workflow, "Stalled", "InvalidStep") } };
      const deployment = `d_${generation}of${id.slice(2)}`;
      return { ...workflow, status: { ...fields, deployment, ...conditions(workflow, "Ready", "Deployed") } };
    }),
    observe(store, variableKind, stopping.signal, async (variable) => {
      if (variable.status.observedGeneration === variable.metadata.generation) return undefined;
      return { ...variable, status: { ...variable.status, id: idOf(variable), ...conditions(variable, "Ready", "Set") } };
    }),
    observe(store, subscriptionKind, stopping.signal, async (subscription) => {
      if (subscription.status.observedGeneration === subscription.metadata.generation) return undefined;
      return {
        ...subscription,
        status: { ...subscription.status, id: idOf(subscription), ...conditions(subscription, "Ready", "Routed") },
      };
    }),
  ]);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running.map(({ ended }) => ended));
    },
  };
}

/** Lets a webhook in deletion end, as the real operator does. */
export async function releaseWebhook(store: ResourceStore, id: string): Promise<void> {
  const webhook = await store.findById(webhookKind, id);
  if (webhook !== undefined) await release(store, webhookKind, webhook);
}

function deployed(
  source: Resource<SourceSpec, SourceStatus>,
  code: string,
  slugs: Map<string, string>,
): Resource<SourceSpec, SourceStatus> {
  const id = idOf(source);
  const slug = uniqueSlug(nameSlug(nameOf(source)), (candidate) => (slugs.get(`${source.metadata.namespace} ${candidate}`) ?? id) !== id);
  slugs.set(`${source.metadata.namespace} ${slug}`, id);
  const fields = { ...source.status, id, nameSlug: slug, updatedAt: Date.now(), endpoint: `http://ingress.test/${id}` };
  const hook = /fail: (deploy|activate)/.exec(code)?.[1] as "deploy" | "activate" | undefined; // by the expression
  if (hook !== undefined) {
    const error = {
      name: "TypeError",
      message: "no webhook for you",
      stack: "TypeError: no webhook for you\n    at activate (component.js:3:1)",
    };
    return {
      ...source,
      status: { ...fields, hookFailures: [{ hook, error }], ...conditions(source, "Stalled", "HookFailed") },
    };
  }
  if (code.includes("undeployable")) return { ...source, status: { ...fields, ...conditions(source, "Stalled", "InvalidProps") } };
  const { running: _running, ...runs } = fields;
  const runningGeneration = source.metadata.generation;
  const deployment = `d_${runningGeneration}of${id.slice(3)}`;
  return { ...source, status: { ...runs, runningGeneration, deployment, hookFailures: [], ...conditions(source, "Ready", "Deployed") } };
}

const nameOf = ({ spec, metadata }: Resource<SourceSpec, SourceStatus>): string => spec.name ?? metadata.name;

async function ensureComponent(store: ResourceStore, namespace: string, name: string, code: string): Promise<void> {
  if ((await store.find(componentKind, namespace, name)) !== undefined) return;
  const id = `sc_of${name.replaceAll("-", "")}`;
  await store.create(componentKind, { namespace, name, spec: { code }, labels: { [labels.id]: id } });
}

function idOf(resource: Resource): string {
  return resource.metadata.labels[labels.id] ?? idOfResourceName(resource.metadata.name) ?? resource.metadata.name;
}

function conditions({ metadata }: Resource, holds: "Ready" | "Stalled", reason: string) {
  const made = (type: Condition["type"]): Condition => ({
    type,
    status: type === holds ? "True" : "False",
    reason,
    message: `it is ${reason}`,
    lastTransitionTime: new Date().toISOString(),
    observedGeneration: metadata.generation,
  });
  return { observedGeneration: metadata.generation, conditions: [made("Ready"), made("Stalled")] };
}

async function observe<S, T>(
  store: ResourceStore,
  kind: Kind<S, T>,
  signal: AbortSignal,
  next: (resource: Resource<S, T>) => Promise<Resource<S, T> | undefined>,
): Promise<{ readonly ended: Promise<void> }> {
  const { resourceVersion } = await store.list(kind, { limit: 1 });
  const follow = async (): Promise<void> => {
    for await (const event of store.watch(kind, resourceVersion, signal)) {
      if (event.type === "bookmark" || event.type === "deleted") continue;
      await settle(store, kind, event.resource, next).catch(async (error: unknown) => {
        if (error instanceof NotFound) await settleLater(store, kind, event.resource, next);
        // Changed in the meantime: the watch reports that next.
        else if (!(error instanceof Conflict)) throw error;
      });
    }
  };
  return { ended: follow() };
}

/** Retries, as the real operator does: what is missing, such as the component, may be restored. */
async function settleLater<S, T>(
  store: ResourceStore,
  kind: Kind<S, T>,
  { metadata }: Resource<S, T>,
  next: (resource: Resource<S, T>) => Promise<Resource<S, T> | undefined>,
): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    await pause(20);
    const now = await store.find(kind, metadata.namespace, metadata.name);
    if (now === undefined) return;
    try {
      return await settle(store, kind, now, next);
    } catch (error) {
      if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
    }
  }
}

async function settle<S, T>(
  store: ResourceStore,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  next: (resource: Resource<S, T>) => Promise<Resource<S, T> | undefined>,
): Promise<void> {
  const { metadata } = resource;
  if (metadata.deletionTimestamp !== undefined) {
    await store.update(kind, {
      ...resource,
      metadata: { ...metadata, finalizers: metadata.finalizers.filter((name) => name !== finalizer) },
    });
    return;
  }
  const settled = await next(resource);
  if (settled !== undefined) await store.updateStatus(kind, settled);
}
