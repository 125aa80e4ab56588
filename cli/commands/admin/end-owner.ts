import { setTimeout as pause } from "node:timers/promises";
import type { Context } from "../../context.ts";

const pollMs = 1_000;

export const endOption = { flags: "--resources", description: "first delete all resources, and wait for that" } as const;

interface Ending {
  readonly ended: boolean;
  readonly remaining: readonly { readonly owner_id: string; readonly kind: string; readonly count: number }[];
}

/** Requests the deletion of all that an owner has until nothing is left, and notes what is left. */
export async function endAll(
  owner: string,
  { out, signal }: Pick<Context, "out" | "signal">,
  end: () => Promise<{ readonly data: Ending }>,
): Promise<void> {
  let noted = "";
  for (;;) {
    const { ended, remaining } = (await end()).data;
    if (ended) return;
    const left = remaining.map(({ owner_id, kind, count }) => `${count} ${kind}${owner_id === owner ? "" : ` of ${owner_id}`}`).join(", ");
    if (left !== noted) out.note(`hw: still being deleted: ${left}`);
    noted = left;
    await pause(pollMs, undefined, { signal });
  }
}
