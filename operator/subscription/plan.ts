import type { SubscriptionResource } from "../../crds/subscription.ts";
import { routedWebhook, type SealedWebhook } from "../../crds/webhook.ts";
import type { Route, RouteListener } from "../../domain/source/deployment.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { assertNever } from "../../domain/errors.ts";
import { canHearItself, selfSubscriptionMessage } from "../../domain/event/subscription-match.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { namespaceHasNoOwner } from "../identity.ts";
import { disabledProblem } from "../webhook/problem.ts";
import type { Emitter, Listener } from "./ends.ts";
import { reaches, type Reach } from "../reach.ts";

/** Inputs of the verdict on a subscription. */
export interface JudgeInput {
  readonly id: string;
  readonly subscription: SubscriptionResource;
  /** Undefined in a namespace without an owner. */
  readonly reach: Reach | undefined;
  readonly emitter: Emitter;
  readonly listener: Listener;
}

export interface Verdict {
  /** The route entry; undefined: none. */
  readonly route: Route | undefined;
  readonly ready: boolean;
  /** A missing end may be on its way; otherwise a user must change the subscription or one of its ends. */
  readonly transient: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * Derives the route and conditions. An end outside the owner's reach gets the same message as a missing one: ids must not reveal anything.
 */
export function judge({ id, subscription, reach, emitter, listener }: JudgeInput): Verdict {
  if (reach === undefined) return { route: undefined, ...namespaceHasNoOwner(subscription.metadata.namespace) };
  if (emitter.id === undefined || !reaches(reach, emitter.owner)) return waiting("EmitterNotFound", notFound("emitter", emitter.shown));
  if (listener.found === undefined || listener.id === undefined || !reaches(reach, listener.owner))
    return waiting("ListenerNotFound", notFound("listener", listener.shown));
  if (listener.id === emitter.id && !(listener.found.kind !== "webhook" && canHearItself(subscription.spec.channel)))
    return stalled("SelfSubscription", selfSubscriptionMessage(emitter.shown, subscription.spec.channel));
  const { found, keys } = listener;
  const switchable = found.kind === "webhook" ? found.webhook : found.kind === "workflow" ? found.workflow : undefined;
  if (switchable?.invalid !== undefined)
    return stalled("ListenerNotReady", `${found.kind} ${listener.shown} cannot be used: ${switchable.invalid}`);
  if (found.kind === "webhook" && found.webhook.spec.active === false)
    return stalled("ListenerInactive", `${found.kind} ${listener.shown} is switched off`);
  const disabled = found.kind === "webhook" ? disabledProblem(found.webhook) : undefined;
  if (disabled !== undefined) return stalled("ListenerNotReady", disabled.message);
  if (keys !== undefined && "problem" in keys) {
    const { transient, message } = keys.problem;
    return (transient ? waiting : stalled)("ListenerNotReady", `webhook ${listener.shown} cannot be used: ${message}`);
  }
  const route: Route = {
    subscription: id,
    owner: reach.owner,
    emitter: emitter.id,
    ...(isForeignEmitter(emitter, reach) ? { emitterOwner: emitter.owner } : {}),
    channel: subscription.spec.channel,
    listener: routeListener(listener.id, found, keys ?? { keys: [] }),
  };
  const done = { route, ready: true, transient: false };
  if (found.kind === "workflow" && !runs(found.workflow))
    return {
      ...done,
      reason: "Queued",
      message: `events of ${emitter.shown} wait until ${listener.shown} is deployed and active`,
    };
  return { ...done, reason: "Routed", message: `events of ${emitter.shown} are delivered to ${listener.shown}` };
}

const without =
  (transient: boolean) =>
  (reason: string, message: string): Verdict => ({ route: undefined, ready: false, transient, reason, message });
const waiting = without(true);
const stalled = without(false);

export function notFound(end: "emitter" | "listener", shown: string): string {
  return `${end} ${shown} is not found: it does not exist, or belongs neither to the owner of this namespace nor to one of their organizations`;
}

/** An owner's id as emitter is its own owner. */
function isForeignEmitter(emitter: Emitter, { owner }: Reach): emitter is Emitter & { readonly owner: string } {
  return emitter.owner !== owner && emitter.owner !== emitter.id;
}

type Found = NonNullable<Listener["found"]>;

/** Is a version of it deployed and active? */
const runs = ({ status }: WorkflowResource): boolean => status.deployment !== undefined && status.active === true;

function routeListener(id: string, found: Found, sealed: SealedWebhook): RouteListener {
  switch (found.kind) {
    case "webhook":
      return routedWebhook(id, found.webhook.spec, sealed);
    case "source":
      return { kind: "source", id, pool: found.source.status.pool ?? defaultPool };
    case "workflow":
      return { kind: "workflow", id, ...(runs(found.workflow) ? { pool: found.workflow.status.pool ?? defaultPool } : {}) };
    default:
      return assertNever(found);
  }
}
