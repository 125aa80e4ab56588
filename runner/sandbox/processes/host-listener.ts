import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { Unavailable } from "../../../domain/errors.ts";
import type { SandboxLogger } from "../sandbox-options.ts";
import type { HostResources } from "./host-protocol.ts";
import type { ProcessStart, SandboxProcess, SandboxProcesses } from "./port.ts";
import { RemoteHost } from "./remote.ts";
import { addressOf, userOfPeer } from "./unix-sockets.ts";

export interface HostListenerOptions {
  /** See `addressOf`. */
  readonly socket: string;
  /** Number of the user of the process host. Connections of other users are refused. */
  readonly user: number;
  readonly logger: SandboxLogger;
}

/**
 * Sandbox processes of the process host in another container: listens for it, and goes on with the next one when it is lost, such as after
 * its container has restarted.
 *
 *     no host ── first connection ──▶ descriptors ── second ──▶ control ── hello ──▶ host ── one of them closes ──▶ no host
 */
export class HostListener implements SandboxProcesses {
  readonly #options: HostListenerOptions;
  readonly #server: Server;
  readonly #first = Promise.withResolvers<HostResources>();
  #descriptors: Socket | undefined;
  #connected: RemoteHost | undefined;
  #isReady = false;

  private constructor(options: HostListenerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** @throws the error of `listen` */
  static async listen(options: HostListenerOptions): Promise<HostListener> {
    const listener = new HostListener(options);
    await once(listener.#server.listen(addressOf(options.socket)), "listening");
    return listener;
  }

  get isRoot(): boolean {
    return this.#options.user === 0;
  }

  /** What the first host has. @throws Unavailable if none connects in time */
  async resources(timeoutMs: number): Promise<HostResources> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const message = `no process host has connected to ${this.#options.socket} as user ${this.#options.user}: is the container 'sandbox' running?`;
    const timer = setTimeout(() => reject(new Unavailable(message, { code: "sandbox_unavailable" })), timeoutMs);
    return await Promise.race([this.#first.promise, late]).finally(() => clearTimeout(timer));
  }

  start(start: ProcessStart): SandboxProcess {
    if (this.#connected !== undefined && this.#isReady) return this.#connected.start(start);
    queueMicrotask(() => start.onExit("no process host is connected"));
    return { pid: undefined, channel: undefined, descriptors: undefined, stderr: undefined, measure: () => {}, kill: () => {} };
  }

  stop(): void {
    this.#server.close();
    this.#descriptors?.destroy();
    this.#connected?.end("the runner stops");
  }

  #accept(socket: Socket): void {
    socket.on("error", () => {});
    const user = userOf(socket);
    if (user !== this.#options.user) {
      this.#options.logger.warn({ op: "sandbox.host_refused", user }, `user ${user} has tried to connect as the process host`);
      socket.destroy();
    } else if (this.#connected !== undefined) socket.destroy();
    else if (this.#descriptors === undefined) {
      this.#descriptors = socket;
      // Data: the host takes it for its control connection, because the one before was refused. Then it begins again.
      socket.on("data", () => socket.destroy());
      socket.once("close", () => {
        if (this.#descriptors === socket) this.#descriptors = undefined;
      });
    } else this.#connect(socket, this.#descriptors);
  }

  #connect(control: Socket, descriptors: Socket): void {
    this.#descriptors = undefined;
    this.#connected = new RemoteHost(control, descriptors, {
      onHello: (resources) => {
        this.#isReady = true;
        this.#first.resolve(resources);
      },
      onEnd: (why) => {
        this.#connected = undefined;
        this.#isReady = false;
        this.#options.logger.warn({ op: "sandbox.host_lost" }, why);
      },
    });
  }
}

function userOf(socket: Socket): number | undefined {
  try {
    return userOfPeer(socket);
  } catch {
    return undefined; // It has been closed.
  }
}
