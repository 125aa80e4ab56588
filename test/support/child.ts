import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Everything that the child has printed so far. */
export function outputOf(child: ChildProcess, onOutput?: (text: string) => void): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      onOutput?.(chunk.toString());
    });
  return () => output;
}

/** By itself or by a signal, which leaves `exitCode` null. */
export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Sends the signal unless the child has ended, and resolves when it has. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}
