import type { Kind } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { Forbidden, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { canHearItself, channelsOfOwner, selfSubscriptionMessage } from "../../domain/event/subscription-match.ts";
import type { User } from "../http/ports.ts";
import type { Access } from "../resources/access.ts";
import type { Connected } from "./request.ts";

const globs: ReadonlySet<string> = new Set(["dc_*", "p_*"]);

/**
 * Checks that the user may connect these on behalf of the owner. Both ends must exist and be visible to the user. An organization connects
 * only its own resources: otherwise all members would receive one member's events. The operator applies the same rule.
 * @throws NotFound that names the end, InvalidInput, Forbidden
 */
export async function checkSubscription(
  { emitter, listener, channel }: Connected,
  owner: string,
  user: User,
  access: Access,
): Promise<void> {
  if (emitter === listener && !((isId("source", emitter) || isId("workflow", emitter)) && canHearItself(channel)))
    throw new InvalidInput(selfSubscriptionMessage(emitter, channel), { code: "self_subscription" });
  checkChannel(emitter, channel);
  checkOwner("emitter", emitter, owner, await ownerOfEmitter(emitter, owner, user, access));
  await checkListener(listener, owner, user, access);
}

/** The same check for a listener alone. */
export async function checkListener(listener: string, owner: string, user: User, access: Access): Promise<void> {
  checkOwner("listener", listener, owner, await ownerOfListener(listener, user, access));
}

async function ownerOfEmitter(emitter: string, owner: string, user: User, access: Access): Promise<string | undefined> {
  if (globs.has(emitter)) return owner;
  if (isId("source", emitter)) return ownerOf(sourceKind, "source", emitter, "emitter", user, access);
  if (isId("organization", emitter)) {
    await access.checkOrganization(user, emitter);
    return emitter;
  }
  if (isId("user", emitter)) {
    if (emitter !== user.id) throw new NotFound(`emitter ${emitter} is not found: of users, only your own id can be an emitter`);
    return emitter;
  }
  if (isId("workflow", emitter)) return ownerOf(workflowKind, "workflow", emitter, "emitter", user, access);
  throw new InvalidInput(
    `emitter_id '${emitter}' is invalid: it must be a source (dc_…), a workflow (p_…), an organization (o_…), yourself (u_…), dc_* or p_*`,
  );
}

/** @throws InvalidInput for a channel that an owner's id cannot emit */
function checkChannel(emitter: string, channel: string): void {
  const channels = channelsOfOwner(emitter);
  if (channel === "" || channels.length === 0 || channels.includes(channel)) return;
  throw new InvalidInput(`event_name '${channel.slice(0, 80)}' is invalid for the emitter ${emitter}: it must be ${channels.join(" or ")}`);
}

async function ownerOfListener(listener: string, user: User, access: Access): Promise<string | undefined> {
  if (isId("source", listener)) return ownerOf(sourceKind, "source", listener, "listener", user, access);
  if (isId("webhook", listener)) return ownerOf(webhookKind, "webhook", listener, "listener", user, access);
  if (isId("workflow", listener)) return ownerOf(workflowKind, "workflow", listener, "listener", user, access);
  throw new InvalidInput(`listener_id '${listener}' is invalid: it must be a source (dc_…), a workflow (p_…) or a webhook (wh_…)`);
}

async function ownerOf<S, T>(
  kind: Kind<S, T>,
  idKind: "source" | "webhook" | "workflow",
  id: string,
  end: string,
  user: User,
  access: Access,
): Promise<string | undefined> {
  try {
    return await access.ownerOf(await access.getReferenced(kind, idKind, id, user));
  } catch (error) {
    throw error instanceof NotFound ? new NotFound(`${end} ${id} is not found`) : error;
  }
}

function checkOwner(end: string, id: string, owner: string, whose: string | undefined): void {
  if (isId("organization", owner) && whose !== owner)
    throw new Forbidden(`${end} ${id} does not belong to organization ${owner}: subscribe it in your own name, without org_id`);
}
