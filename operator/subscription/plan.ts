import { routedWebhook, type SealedWebhook } from "../../crds/webhook.ts";
import type { Route, RouteListener } from "../../domain/deployment.ts";
import { assertNever } from "../../domain/errors.ts";
import { canHearItself, selfSubscriptionMessage } from "../../domain/subscription-match.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { namespaceHasNoOwner } from "../identity.ts";
import { disabledProblem } from "../webhook/problem.ts";
import type { Emitter, Listener } from "./ends.ts";
import { reaches, type Reach } from "./reach.ts";
import type { SubscriptionResource } from "./resources.ts";

/** What a subscription is judged by. */
export interface Judged {
  readonly id: string;
  readonly subscription: SubscriptionResource;
  /** Undefined in a namespace that nobody owns. */
  readonly reach: Reach | undefined;
  readonly emitter: Emitter;
  readonly listener: Listener;
}

export interface Verdict {
  /** The entry that routers are to see; undefined: none. */
  readonly route: Route | undefined;
  readonly ready: boolean;
  /** What is missing may be on its way; else a person has to change this subscription or one of its ends. */
  readonly passing: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * What a subscription means for the router. An end that is out of its owner's reach is not found, in the same words as one that does
 * not exist: ids tell nobody anything.
 */
export function judge({ id, subscription, reach, emitter, listener }: Judged): Verdict {
  if (reach === undefined) return { route: undefined, ...namespaceHasNoOwner(subscription.metadata.namespace) };
  if (emitter.id === undefined || !reaches(reach, emitter.owner)) return waits("EmitterNotFound", notFound("emitter", emitter.shown));
  if (listener.found === undefined || listener.id === undefined || !reaches(reach, listener.owner))
    return waits("ListenerNotFound", notFound("listener", listener.shown));
  if (listener.id === emitter.id && !(listener.found.kind === "source" && canHearItself(subscription.spec.channel)))
    return stuck("SelfSubscription", selfSubscriptionMessage(emitter.shown, subscription.spec.channel));
  const { found, keys } = listener;
  const switched = found.kind === "webhook" ? found.webhook : found.kind === "workflow" ? found.workflow : undefined;
  if (switched?.invalid !== undefined)
    return stuck("ListenerNotReady", `${found.kind} ${listener.shown} cannot be used: ${switched.invalid}`);
  if (switched?.spec.active === false) return stuck("ListenerInactive", `${found.kind} ${listener.shown} is switched off`);
  const disabled = found.kind === "webhook" ? disabledProblem(found.webhook) : undefined;
  if (disabled !== undefined) return stuck("ListenerNotReady", disabled.message);
  if (keys !== undefined && "problem" in keys) {
    const { passing, message } = keys.problem;
    return (passing ? waits : stuck)("ListenerNotReady", `webhook ${listener.shown} cannot be used: ${message}`);
  }
  const route: Route = {
    subscription: id,
    owner: reach.owner,
    emitter: emitter.id,
    ...(isNamedAndForeign(emitter, reach) ? { emitterOwner: emitter.owner } : {}),
    channel: subscription.spec.channel,
    listener: routeListener(listener.id, found, keys ?? { keys: [] }),
  };
  const done = { route, ready: true, passing: false };
  if (found.kind === "workflow")
    return {
      ...done,
      reason: "Queued",
      message: `events of ${emitter.shown} are kept for ${listener.shown}, which this version does not run`,
    };
  return { ...done, reason: "Routed", message: `events of ${emitter.shown} are delivered to ${listener.shown}` };
}

const without =
  (passing: boolean) =>
  (reason: string, message: string): Verdict => ({ route: undefined, ready: false, passing, reason, message });
const waits = without(true);
const stuck = without(false);

export function notFound(end: "emitter" | "listener", shown: string): string {
  return `${end} ${shown} is not found: there is none, or it belongs neither to the owner of this namespace nor to an organization of theirs`;
}

/** An owner's id as emitter is its own owner. */
function isNamedAndForeign(emitter: Emitter, { owner }: Reach): emitter is Emitter & { readonly owner: string } {
  return emitter.owner !== owner && emitter.owner !== emitter.id;
}

type Found = NonNullable<Listener["found"]>;

function routeListener(id: string, found: Found, sealed: SealedWebhook): RouteListener {
  switch (found.kind) {
    case "webhook":
      return routedWebhook(id, found.webhook.spec, sealed);
    case "source":
      return { kind: "source", id, pool: found.source.status.pool ?? defaultPool };
    case "workflow":
      return { kind: "workflow", id };
    default:
      return assertNever(found);
  }
}
