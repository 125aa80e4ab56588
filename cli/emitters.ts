import type { Client } from "../client/client.ts";
import { referredTo } from "./references.ts";

/** What emits events and writes logs. */
export interface Emitter {
  readonly id: string;
  readonly isWorkflow: boolean;
}

/** A source or workflow, by id or name. @throws Failure if there is none */
export async function emitterOf(client: Client, text: string): Promise<Emitter> {
  const { kind, id } = await referredTo(client, text, ["sources", "workflows"]);
  return { id, isWorkflow: kind.name === "workflows" };
}
