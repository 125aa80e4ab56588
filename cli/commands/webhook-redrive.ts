import type { Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { idOf } from "../references.ts";
import { optionalTime } from "../times.ts";
import { present } from "../values.ts";

/** `hw webhooks redrive`. */
export const redrive: Subcommand = {
  name: "redrive",
  summary: "count dead letters, ask, and deliver them again",
  arguments: [
    { name: "<webhook>", description: "a webhook", completes: "webhook" },
    { name: "[delivery...]", description: "ids of deliveries, which are not asked about; by default all dead letters" },
  ],
  options: [
    { flags: "--since <time>", description: "only those whose last attempt failed at this time or later, such as 2h" },
    { flags: "--until <time>", description: "only those whose last attempt failed before this time" },
    { flags: "--dry-run", description: "show how many it would deliver" },
    { flags: "-y, --yes", description: "deliver without asking" },
  ],
  examples: [
    { command: "hw webhooks redrive orders --since 2h --dry-run", does: "Count the dead letters of two hours." },
    { command: "hw webhooks redrive orders --yes", does: "Deliver all dead letters again." },
  ],
  operations: ["redriveDeadLetters"],
  run: async (context, given) => {
    const id = await idOf(context.client, "webhooks", given.required("webhook"));
    const selection = selectionOf(given);
    const isDry = given.flag("dry-run");
    if (isDry || selection.deliveries === undefined) {
      const isConfirmed = await confirmCount(context, given, { id, selection });
      if (!isConfirmed) return;
    }
    await deliver(context, id, selection);
  },
};

type Selection = ReturnType<typeof selectionOf>;

function selectionOf(given: Given) {
  const deliveries = given.list("delivery");
  for (const flag of ["since", "until"])
    if (deliveries.length > 0 && given.has(flag)) throw usageFailure(`--${flag} selects dead letters`, "leave the ids of deliveries out");
  return present({
    deliveries: deliveries.length === 0 ? undefined : deliveries,
    since_ms: optionalTime(given.text("since"), "--since", "past"),
    until_ms: optionalTime(given.text("until"), "--until", "past"),
  });
}

/** Shows the number, or asks with it. @returns whether to deliver them */
async function confirmCount(
  { client, out, terminal }: Context,
  given: Given,
  { id, selection }: { readonly id: string; readonly selection: Selection },
): Promise<boolean> {
  const answer = await client.call("redriveDeadLetters", { path: { id }, body: { ...selection, dry_run: true } });
  const { matching } = answer.data;
  if (matching === 0 || given.flag("dry-run")) {
    await out.done(answer, matching === 0 ? `no dead letter of ${id} matches` : `${counted(matching)} of ${id} would be delivered again`);
    return false;
  }
  await terminal.confirm(`Deliver ${counted(matching)} of ${id} again?`, given.flag("yes"));
  return true;
}

async function deliver({ client, out, terminal }: Context, id: string, selection: Selection): Promise<void> {
  const answer = await terminal.progress("Queueing dead letters", () =>
    client.call("redriveDeadLetters", { path: { id }, body: selection }),
  );
  const { queued } = answer.data;
  const left = (selection.deliveries ?? []).length - queued;
  const others = left > 0 ? `; ${left} of the ids name no dead letter` : "";
  await out.done(
    answer,
    `${counted(queued)} of ${id} ${queued === 1 ? "is" : "are"} delivered again${others}: \`hw webhooks backlog ${id}\` shows what waits`,
  );
}

const counted = (count: number): string => (count === 1 ? "1 dead letter" : `${count} dead letters`);
