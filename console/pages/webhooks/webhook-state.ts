import type { Webhook } from "../../../client/generated/operations.ts";

/** `disabled`: Headwater stopped posting because of the endpoint's responses; `paused`: its owner did. */
export const webhookState = ({ active, disabled }: Webhook): "active" | "paused" | "disabled" =>
  disabled !== undefined ? "disabled" : active ? "active" : "paused";
