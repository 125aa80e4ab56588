import type { Client } from "../client/client.ts";
import type { ArgumentDefinition, OptionDefinition } from "./command.ts";
import { emitterOf } from "./emitters.ts";
import { usageFailure } from "./failure.ts";
import type { Given } from "./given.ts";
import { referredTo } from "./references.ts";

export const subscriptionArguments: readonly ArgumentDefinition[] = [
  { name: "<emitter>", description: "a source or workflow, dc_* or p_* for all; with --all the listener", completes: "source" },
  { name: "[listener]", description: "a webhook, source or workflow", completes: "webhook" },
];

export const subscriptionOptions: readonly OptionDefinition[] = [
  { flags: "--channel <name>", description: "a channel other than the default one, such as $errors" },
  { flags: "--all", description: "all sources, also future ones; with --channel $errors or $logs" },
];

export const listenerIdOf = async (client: Client, text: string): Promise<string> =>
  (await referredTo(client, text, ["webhooks", "sources", "workflows"])).id;

/** Patterns, users and organizations stay as they are. */
export const emitterPattern = async (client: Client, text: string): Promise<string> =>
  text.includes("*") || /^[uo]_/.test(text) ? text : (await emitterOf(client, text)).id;

export function automaticChannel(given: Given): "$errors" | "$logs" {
  const channel = given.text("channel");
  if (channel === "$errors" || channel === "$logs") return channel;
  throw usageFailure("--all needs the channel", "add --channel '$errors' or --channel '$logs'");
}
