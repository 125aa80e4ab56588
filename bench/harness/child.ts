import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A process of the bench's own (load, baseline): what it takes must not be taken from the process under test. */
export interface BenchChild<Reply> {
  readonly pid: number;
  /** The next message it sends. @throws when it ends instead */
  next(): Promise<Reply>;
  send(message: object): void;
  stop(): Promise<void>;
}

/** Starts `bench/harness/<name>.ts` and gives it its orders as the first message. */
export function startChild<Reply>(name: string, orders: object): BenchChild<Reply> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), [], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(orders);
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`the bench's ${name} ended early`)));
  ended.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    next: async () => {
      const [message] = await Promise.race([once(child, "message"), ended]);
      return message as Reply; // Both sides are files of this folder.
    },
    send: (message) => void child.send(message),
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** In the child: its orders. It ends with its parent. */
export async function orders<T>(): Promise<T> {
  process.once("disconnect", () => process.exit(0));
  const [message] = await once(process, "message");
  return message as T; // Both sides are files of this folder.
}

export const reply = (message: object): void => void process.send?.(message);
