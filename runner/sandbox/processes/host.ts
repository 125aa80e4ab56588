import { closeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeFrame, readFrames } from "../frames.ts";
import { descriptorOf, takeDescriptor } from "../network/passed-descriptors.ts";
import {
  boundedHow,
  type FromHost,
  fromHostLimits,
  type HostResources,
  type ToHost,
  toHostLimits,
  usageIntervalMs,
} from "./host-protocol.ts";
import { SpawnedProcess } from "./spawned.ts";
import { addressOf } from "./unix-sockets.ts";

export interface ProcessHostOptions {
  /** See `addressOf`. */
  readonly socket: string;
  readonly resources: HostResources;
  readonly onConnected: (isConnected: boolean) => void;
}

const retryMs = 200;
/** Descriptors 2, 3 and 4 of a process. */
const passedDescriptors = 3;

/**
 * The process host: starts, measures and kills sandbox processes for a runner in another container, which alone has the keys. A runner and
 * a sandbox process speak over the sockets that the runner passes with each start; the host does not see what they say.
 *
 * @param signal ends the host and all processes
 */
export async function runProcessHost(options: ProcessHostOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await serveRunner(options, signal).catch(() => undefined); // There is no runner yet, or it has another host.
    options.onConnected(false);
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves when the connection has ended. */
async function serveRunner({ socket, resources, onConnected }: ProcessHostOptions, signal: AbortSignal): Promise<void> {
  // What comes on it is taken with `recvmsg`: if Node read it, the descriptors would be lost.
  const descriptors = await connected(socket, true);
  const control = await connected(socket, false).catch((error: unknown) => {
    descriptors.destroy();
    throw error;
  });
  const host = new ConnectedHost(control, descriptors);
  const closed = new Promise<void>((resolve) => control.once("close", () => resolve()));
  signal.addEventListener("abort", () => control.destroy(), { once: true });
  host.send({ kind: "hello", resources });
  onConnected(true);
  await closed;
  host.end();
}

function connected(name: string, isPaused: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(addressOf(name));
    if (isPaused) socket.pause();
    socket.once("error", reject).once("connect", () => resolve(socket.off("error", reject).on("error", () => {})));
  });
}

class ConnectedHost {
  readonly #control: Socket;
  readonly #descriptors: Socket;
  readonly #processes = new Map<number, SpawnedProcess>();
  readonly #timer: NodeJS.Timeout;

  constructor(control: Socket, descriptors: Socket) {
    this.#control = control;
    this.#descriptors = descriptors;
    this.#timer = setInterval(() => this.#report(), usageIntervalMs);
    readFrames(control, toHostLimits, {
      // The runner sent it.
      onFrame: ({ kind, text }) => this.#receive({ kind, ...(JSON.parse(text) as object) } as ToHost),
      onViolation: () => control.destroy(),
    });
  }

  send(message: FromHost): void {
    if (this.#control.writable) this.#control.write(encodeFrame(fromHostLimits, message));
  }

  /** A runner that is gone needs no process, and the next one starts its own. */
  end(): void {
    clearInterval(this.#timer);
    this.#descriptors.destroy();
    for (const each of this.#processes.values()) each.kill();
  }

  #receive(message: ToHost): void {
    if (message.kind === "kill") this.#processes.get(message.id)?.kill();
    else this.#start(message);
  }

  #start({ id, command, isLowPriority }: Extract<ToHost, { kind: "start" }>): void {
    let taken: readonly number[];
    try {
      taken = this.#take(id);
    } catch (error) {
      return this.#onExit(id, String(error));
    }
    const started = new SpawnedProcess({ command, isLowPriority, onExit: (how) => this.#onExit(id, how) }, taken);
    this.#processes.set(id, started);
    for (const descriptor of taken) closeSync(descriptor);
    if (started.pid !== undefined) this.send({ kind: "started", id, pid: started.pid });
  }

  /** @throws if they have not come: too many files are open */
  #take(id: number): readonly number[] {
    const taken: number[] = [];
    try {
      while (taken.length < passedDescriptors) {
        const { descriptor, number } = takeDescriptor(descriptorOf(this.#descriptors));
        if (number === id) taken.push(descriptor);
        else closeSync(descriptor); // Of a start that failed halfway.
      }
      return taken;
    } catch (error) {
      for (const descriptor of taken) closeSync(descriptor);
      throw error;
    }
  }

  #onExit(id: number, how: string): void {
    this.#processes.delete(id);
    this.send({ kind: "exited", id, how: boundedHow(how) });
  }

  #report(): void {
    const processes = [...this.#processes].map(([id, each]) => {
      const { residentBytes, mainThreadCpuMs } = each.measure();
      return [id, residentBytes, mainThreadCpuMs] as const;
    });
    this.send({ kind: "usage", processes });
  }
}
