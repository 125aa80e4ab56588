import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeFrame, outOfTurn, ProtocolViolation, readFrames } from "../frames.ts";
import { descriptorOf, passDescriptor } from "../network/passed-descriptors.ts";
import { type FromHost, fromHostLimits, type HostResources, parseFromHost, type ToHost, toHostLimits } from "./host-protocol.ts";
import type { ProcessStart, ProcessUsage, SandboxProcess } from "./port.ts";
import { socketPair } from "./unix-sockets.ts";

/** A host that reports nothing for so long hangs. It reports ten times a second, but an overloaded machine makes it wait. */
const maxSilenceMs = 30_000;

interface HostEvents {
  readonly onHello: (resources: HostResources) => void;
  /** Called once. */
  readonly onEnd: (why: string) => void;
}

/** The runner's side of one connected process host. All its processes have ended when it has. */
export class RemoteHost {
  readonly #control: Socket;
  readonly #descriptors: Socket;
  readonly #events: HostEvents;
  readonly #processes = new Map<number, RemoteProcess>();
  readonly #watch: NodeJS.Timeout;
  #lastId = 0;
  #hasGreeted = false;
  #isEnded = false;

  constructor(control: Socket, descriptors: Socket, events: HostEvents) {
    this.#control = control;
    this.#descriptors = descriptors;
    this.#events = events;
    this.#watch = setTimeout(() => this.end(`it reported nothing for ${maxSilenceMs / 1_000} s`), maxSilenceMs);
    for (const socket of [control, descriptors]) socket.on("error", () => {}).once("close", () => this.end("its connection ended"));
    descriptors.on("data", () => this.end("it sent data on the connection for descriptors"));
    readFrames(control, fromHostLimits, {
      onFrame: (frame) => {
        if (!this.#isEnded) this.#receive(parseFromHost(frame));
      },
      onViolation: ({ message }) => this.end(`it sent ${message}`),
    });
  }

  start(start: ProcessStart): SandboxProcess {
    this.#lastId += 1;
    const id = this.#lastId;
    const created = new RemoteProcess(start.onExit, () => this.#send({ kind: "kill", id }));
    this.#processes.set(id, created);
    try {
      created.open((descriptor) => this.#pass(descriptor, id));
      this.#send({ kind: "start", id, command: start.command, isLowPriority: start.isLowPriority });
    } catch (error) {
      this.#processes.delete(id);
      queueMicrotask(() => created.end(String(error)));
    }
    return created;
  }

  end(why: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#watch);
    this.#control.destroy();
    this.#descriptors.destroy();
    const reason = `the process host is lost: ${why}`;
    const processes = [...this.#processes.values()];
    this.#processes.clear();
    this.#events.onEnd(reason);
    for (const each of processes) each.end(reason);
  }

  #send(message: ToHost): void {
    if (this.#control.writable) this.#control.write(encodeFrame(toHostLimits, message));
  }

  #pass(descriptor: number, id: number): void {
    if (!passDescriptor(descriptorOf(this.#descriptors), descriptor, id)) throw new Error("the process host takes no more descriptors");
  }

  /** @throws ProtocolViolation if an honest host would not send it */
  #receive(message: FromHost): void {
    if (this.#hasGreeted === (message.kind === "hello")) throw outOfTurn(message.kind);
    this.#watch.refresh();
    switch (message.kind) {
      case "hello":
        this.#hasGreeted = true;
        return this.#events.onHello(message.resources);
      case "started":
        return this.#get(message.id).start(message.pid);
      case "usage":
        // It may have been measured before the process was killed here.
        for (const [id, residentBytes, mainThreadCpuMs] of message.processes)
          this.#processes.get(id)?.report({ residentBytes, mainThreadCpuMs });
        return;
      case "exited": {
        const ended = this.#get(message.id);
        this.#processes.delete(message.id);
        return ended.end(message.how);
      }
    }
  }

  #get(id: number): RemoteProcess {
    const found = this.#processes.get(id);
    if (found === undefined) throw new ProtocolViolation(`a message for the process ${id}, which it does not have`);
    return found;
  }
}

class RemoteProcess implements SandboxProcess {
  readonly #onExit: (how: string) => void;
  readonly #kill: () => void;
  #pid: number | undefined;
  #stderr: Socket | undefined;
  #channel: Socket | undefined;
  #descriptors: Socket | undefined;
  #waiting: ((usage: ProcessUsage) => void)[] = [];

  constructor(onExit: (how: string) => void, kill: () => void) {
    this.#onExit = onExit;
    this.#kill = kill;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get stderr(): Socket | undefined {
    return this.#stderr;
  }

  get channel(): Socket | undefined {
    return this.#channel;
  }

  get descriptors(): Socket | undefined {
    return this.#descriptors;
  }

  measure(onUsage: (usage: ProcessUsage) => void): void {
    this.#waiting.push(onUsage);
  }

  kill(): void {
    this.#kill();
  }

  /** Creates its sockets. @param pass hands the other end of each to the host. @throws if there are no descriptors left */
  open(pass: (descriptor: number) => void): void {
    this.#stderr = openSocket(pass);
    this.#channel = openSocket(pass);
    this.#descriptors = openSocket(pass);
  }

  /** @throws ProtocolViolation if it was started before */
  start(pid: number): void {
    if (this.#pid !== undefined) throw outOfTurn("started");
    this.#pid = pid;
  }

  report(usage: ProcessUsage): void {
    for (const onUsage of this.#waiting.splice(0)) onUsage(usage);
  }

  /** What has arrived before can still be read. A process whose host was lost ends when its channel does. */
  end(how: string): void {
    this.#waiting = [];
    this.#channel?.end();
    this.#descriptors?.destroy();
    this.#onExit(how);
  }
}

function openSocket(pass: (descriptor: number) => void): Socket {
  const [own, other] = socketPair();
  const socket = new Socket({ fd: own });
  socket.on("error", () => {}); // The end of the process is reported by `onExit`.
  try {
    pass(other);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    closeSync(other);
  }
}
