import { usageFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import type { Answers, TriggerAnswer } from "./answers.ts";
import type { ExportedWorkflow } from "./export-format.ts";

/** Asks a person about triggers of which the export has only ids. An empty answer leaves one to be done by hand. */
export async function askTriggers(workflows: readonly ExportedWorkflow[], answers: Answers): Promise<Answers> {
  const triggers: Record<string, TriggerAnswer> = { ...answers.triggers };
  for (const { definition } of workflows)
    for (const { id } of definition.triggers ?? []) {
      if (triggers[id] !== undefined) continue;
      const answer = await askTrigger(id, definition.name);
      if (answer !== undefined) triggers[id] = answer;
    }
  return { ...answers, triggers };
}

async function askTrigger(id: string, workflow: string): Promise<TriggerAnswer | undefined> {
  if (id.startsWith("ti_")) {
    const text = await ask(`${workflow}: when does the timer ${id} tick? Cron such as 0 9 * * 1, or seconds; empty: later`);
    if (text === "") return undefined;
    return /^\d+$/.test(text) ? { interval_seconds: Number(text) } : { cron: text };
  }
  if (!/^(dc|ei)_/.test(id)) return undefined;
  const source = await ask(`${workflow}: which source here has the events of ${id}? Its name or id; empty: later`);
  return source === "" ? undefined : { source };
}

async function ask(message: string): Promise<string> {
  const { text, isCancel } = await import("@clack/prompts");
  const answer = await text({ message: printable(message), output: process.stderr });
  if (isCancel(answer)) throw usageFailure("nothing was written");
  return (answer ?? "").trim();
}
