import type { Kind, Resource } from "../../crds/resource.ts";
import { sourceKind, type SourceSpec, type SourceStatus } from "../../crds/source.ts";
import type { SubscriptionSpec, SubscriptionResource } from "../../crds/subscription.ts";
import { webhookKind, type WebhookResource } from "../../crds/webhook.ts";
import { workflowKind, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { kindOfId } from "../../domain/ids.ts";
import { channelsOfOwner } from "../../domain/event/subscription-match.ts";
import type { OperatorPorts } from "../ports.ts";
import type { SealedKeys } from "../webhook/signing-keys.ts";

type Ports = Pick<OperatorPorts, "store" | "owners">;

/** The emitter of a subscription: a public id or glob; undefined while the referenced resource is missing. */
export interface Emitter {
  readonly id: string | undefined;
  /** Undefined: the emitter does not exist, or has no owner. */
  readonly owner: string | undefined;
  /** As named in the subscription. */
  readonly shown: string;
}

/** The listener of a subscription, with its resource if it exists. */
export interface ListenerEnd {
  readonly id: string | undefined;
  /** Undefined: the listener does not exist, or has no owner. */
  readonly owner: string | undefined;
  readonly shown: string;
  readonly found:
    | { readonly kind: "webhook"; readonly webhook: WebhookResource }
    | { readonly kind: "source"; readonly source: Resource<SourceSpec, SourceStatus> }
    | { readonly kind: "workflow"; readonly workflow: Resource<WorkflowSpec, WorkflowStatus> }
    | undefined;
}

/** With the signing keys of a webhook, or why it cannot be used. */
export interface Listener extends ListenerEnd {
  readonly keys: SealedKeys | undefined;
}

/**
 * Events emitted before an emitter was deleted are still delivered, so a deleted emitter keeps the owner of its current route. If the id is
 * reused by another owner, that owner's events are not delivered.
 */
export async function emitterOf(
  { metadata: { namespace }, spec }: SubscriptionResource,
  ports: Ports,
  routed: () => Promise<Route | undefined>,
): Promise<Emitter> {
  const { emitter = "", emitterRef } = spec;
  if (emitterRef !== undefined) {
    const { kind, name } = emitterRef;
    const found = await ports.store.find<unknown, Identified>(kind === "Source" ? sourceKind : workflowKind, namespace, name);
    const id = found?.metadata.deletionTimestamp === undefined ? found?.status.id : undefined;
    return { id, owner: await ports.owners.ownerOf(namespace), shown: `${kind} ${name}` };
  }
  const end = (owner: string | undefined): Emitter => ({ id: emitter, owner, shown: emitter });
  if (emitter.endsWith("*")) return end(await ports.owners.ownerOf(namespace)); // All emitters of the subscription's owner.
  if (channelsOfOwner(emitter).length > 0) return end(emitter);
  const found =
    kindOfId(emitter) === "workflow" ? await findById(workflowKind, emitter, ports) : await findById(sourceKind, emitter, ports);
  if (found !== undefined) return end(await ports.owners.ownerOf(found.metadata.namespace));
  const route = await routed();
  return end(route?.emitter === emitter ? (route.emitterOwner ?? route.owner) : undefined);
}

export async function listenerEndOf(
  { listener = "", listenerRef }: Pick<SubscriptionSpec, "listener" | "listenerRef">,
  namespace: string,
  ports: Ports,
): Promise<ListenerEnd> {
  const find = async <S, T extends Identified>(kind: Kind<S, T>): Promise<Resource<S, T> | undefined> => {
    const found =
      listenerRef === undefined ? await findById(kind, listener, ports) : await ports.store.find(kind, namespace, listenerRef.name);
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  };
  const end = async (found: Resource<unknown, Identified> | undefined, as: ListenerEnd["found"]): Promise<ListenerEnd> => ({
    ...(listenerRef === undefined
      ? { id: listener, shown: listener }
      : { id: found?.status.id, shown: `${listenerRef.kind} ${listenerRef.name}` }),
    owner: found === undefined ? undefined : await ports.owners.ownerOf(found.metadata.namespace),
    found: as,
  });
  switch (listenerRef?.kind ?? kindNamed(listener)) {
    case "Webhook": {
      const webhook = await find(webhookKind);
      return end(webhook, webhook && { kind: "webhook", webhook });
    }
    case "Source": {
      const source = await find(sourceKind);
      return end(source, source && { kind: "source", source });
    }
    case "Workflow": {
      const workflow = await find(workflowKind);
      return end(workflow, workflow && { kind: "workflow", workflow });
    }
    default:
      return end(undefined, undefined);
  }
}

interface Identified {
  readonly id?: string | undefined;
}

/** Ignores a resource whose label claims an id that its status does not confirm: users can write labels. */
async function findById<S, T extends Identified>(kind: Kind<S, T>, id: string, { store }: Ports): Promise<Resource<S, T> | undefined> {
  const found = await store.findById(kind, id);
  return (found?.status.id ?? id) === id ? found : undefined;
}

function kindNamed(id: string): "Webhook" | "Source" | "Workflow" | undefined {
  switch (kindOfId(id)) {
    case "webhook":
      return "Webhook";
    case "source":
      return "Source";
    case "workflow":
      return "Workflow";
    default:
      return undefined;
  }
}
