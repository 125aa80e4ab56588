import { call, type Sendable, waitForRemote } from "../../runtime/bridge.ts";
import { hostFileError } from "./errors.ts";

export interface HostCall {
  readonly operation: "file_list" | "file_read" | "file_write";
  readonly args: readonly Sendable[];
  /** Named by the error if it fails. */
  readonly syscall: string;
  /** Takes the result. What it is for may have changed since the call began. */
  settle(result: unknown): void;
}

/** What an operation on files needs of the host before it can go on. */
export interface HostTask {
  /** The call that is needed now. */
  next(): HostCall;
  /** That of an asynchronous function, which others wait for as well. */
  inFlight: Promise<void> | undefined;
}

/**
 * An operation on files. It yields each task of the host that it waits for, and checks again afterwards: other operations may have changed
 * the file in the meantime. So synchronous and asynchronous functions have one implementation.
 */
export type Steps<Result> = Generator<HostTask, Result, void>;

/** Performs an operation while this thread sleeps. */
export function performNow<Result>(steps: Steps<Result>): Result {
  let turn = steps.next();
  while (turn.done !== true) {
    const { operation, args, syscall, settle } = turn.value.next();
    let failure: Error | undefined;
    try {
      settle(waitForRemote(operation, ...args));
    } catch (error) {
      failure = hostFileError(error, syscall);
    }
    turn = failure === undefined ? steps.next() : steps.throw(failure);
  }
  return turn.value;
}

/** Performs an operation asynchronously. If it needs nothing of the host, it is done when this returns. */
export function perform<Result>(steps: Steps<Result>, onDone: (result: Result) => void, onError: (error: unknown) => void): void {
  const resume = (next: () => IteratorResult<HostTask, Result>): void => {
    let turn: IteratorResult<HostTask, Result>;
    try {
      turn = next();
    } catch (error) {
      return onError(error);
    }
    if (turn.done === true) return onDone(turn.value);
    const task = turn.value;
    task.inFlight ??= request(task);
    void task.inFlight.then(
      () => resume(() => steps.next()),
      (error: unknown) => resume(() => steps.throw(error)),
    );
  };
  resume(() => steps.next());
}

export const promised = <Result>(steps: Steps<Result>): Promise<Result> =>
  new Promise((resolve, reject) => perform(steps, resolve, reject));

async function request(task: HostTask): Promise<void> {
  const { operation, args, syscall, settle } = task.next();
  try {
    settle(await call(operation, ...args));
  } catch (error) {
    throw hostFileError(error, syscall);
  } finally {
    task.inFlight = undefined;
  }
}
