import type { ChildProcess } from "node:child_process";

const own = new Set<ChildProcess>();

/** Remembers a child until it has ended, so that nothing is left when this process ends before it knows what it has started. */
export function owned(child: ChildProcess): ChildProcess {
  own.add(child);
  child.once("exit", () => own.delete(child));
  return child;
}

/** Ends them without a farewell; what they keep is made to survive that. */
export function killOwnChildren(): void {
  for (const child of own) child.kill("SIGKILL");
}
