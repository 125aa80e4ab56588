import { assertNever } from "../../domain/errors.ts";
import type { Deployment, Route } from "../../domain/source/deployment.ts";
import { deployment } from "../runner/support.ts";
import { startDeliveryIn } from "./delivery-process.ts";
import { flow } from "./flow.ts";
import { violationsOf, type Sent } from "./invariants.ts";
import { SimulatedProcess, type Faults } from "./process.ts";
import { Random } from "./random.ts";
import { startRunnerIn } from "./runner-process.ts";
import { createServers, type Servers } from "./servers.ts";
import { installVirtualTime, VirtualTime } from "./virtual-time.ts";

export interface SimulationOptions {
  /** Determines the whole history: load, faults, times and order. */
  readonly seed: number;
  /** Simulated time with faults, before everything heals. */
  readonly minutes: number;
  /** Called for each fault and each log record of the processes. */
  readonly onLog?: (line: string) => void;
  /** Puts a mistake into the servers, to show that it is found. */
  readonly sabotage?: (servers: Servers) => void;
}

export interface SimulatedHistory {
  readonly violations: readonly string[];
  readonly sent: number;
  readonly commits: number;
  readonly posts: number;
  /** By kind. */
  readonly faults: Readonly<Record<string, number>>;
}

const owner = "u_1";
const rootSources = Array.from({ length: 6 }, (_, n) => `dc_root${n}`);
const listeningSources = ["dc_hears0", "dc_hears1"];
const webhooks = ["wh_plain", "wh_ordered"];
/** Mean time between two requests to one source. */
const meanPauseMs = 4_000;
/** A run of the workflow has 28 steps. */
const meanFlowPauseMs = 30_000;
const meanFaultPauseMs = 45_000;
/** A process that gets a signal to stop has this time. */
const killAfterMs = 15_000;
/** Time after the last fault in which everything must come to rest: retries wait for up to a minute. */
const healMs = 4 * 60_000;

/**
 * One history from a seed: two runners and two delivery replicas, whose code is the one of production, under one virtual clock. NATS, Postgres,
 * the sandbox and the receivers of webhooks are models behind the ports of the roles. Processes are killed, stalled and cut off, servers end,
 * clocks step, requests and answers are lost, messages come twice. Then everything heals, and `violationsOf` compares what is left with what
 * was promised. Sources emit what they get; webhooks, one of them ordered, and other sources listen. A workflow
 * has all that steps may control.
 */
export async function simulate(options: SimulationOptions): Promise<SimulatedHistory> {
  const uninstall = installVirtualTime();
  try {
    return await new Simulation(options).run();
  } finally {
    uninstall();
  }
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #time = new VirtualTime();
  readonly #random: Random;
  readonly #faults: Faults = { lossRate: 0.002, isDown: { nats: false, postgres: false } };
  readonly #servers: Servers;
  readonly #slots: Slot[];
  readonly #client: SimulatedProcess;
  readonly #sent = new Map<string, Sent>();
  readonly #counts: Record<string, number> = {};
  #areFaultsOver = false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#servers = createServers(this.#time, this.#random.fork(), {
      deployments: [...rootSources, ...listeningSources].map(deploymentOf),
      workflow: flow,
      routes,
    });
    options.sabotage?.(this.#servers);
    this.#client = this.#process("client");
    this.#slots = [startRunnerIn, startRunnerIn, startDeliveryIn, startDeliveryIn].map((start, index) => ({
      name: start === startRunnerIn ? `r_${index}` : `delivery_${index}`,
      start,
      starts: 0,
      stop: async () => undefined,
      process: undefined,
    }));
  }

  async run(): Promise<SimulatedHistory> {
    for (const slot of this.#slots) this.#start(slot);
    for (const source of rootSources) this.#sendLater(source, meanPauseMs);
    this.#sendLater(flow.workflow, meanFlowPauseMs);
    this.#faultLater();
    const faultyMs = this.#options.minutes * 60_000;
    await this.#time.runUntil(faultyMs);
    this.#heal();
    await this.#time.runUntil(faultyMs + healMs);
    const { runs, receivers } = this.#servers;
    return {
      violations: violationsOf(this.#servers, this.#sent),
      sent: this.#sent.size,
      commits: runs.all.length,
      posts: webhooks.reduce((sum, webhook) => sum + receivers.received(urlOf(webhook)).length, 0),
      faults: this.#counts,
    };
  }

  #process(name: string): SimulatedProcess {
    return new SimulatedProcess(name, { time: this.#time, random: this.#random.fork(), faults: this.#faults });
  }

  /** A process that cannot start ends, and is started again. */
  #start(slot: Slot): void {
    const process = this.#process(`${slot.name}x${++slot.starts}`);
    slot.process = process;
    const write = (level: string) => (fields: object, message?: string) =>
      this.#log(() => `${process.name} ${level} ${message ?? ""} ${textOf(fields)}`);
    const log = { info: write("info"), warn: write("warn"), error: write("error") };
    const starting = slot.start(process, this.#servers, log);
    slot.stop = async () => (await starting)();
    starting.catch((error: unknown) => {
      this.#log(() => `${process.name} does not start: ${String(error)}`);
      this.#restart(slot, 1_000);
    });
  }

  #restart(slot: Slot, afterMs: number): void {
    slot.process?.kill();
    this.#time.after(afterMs, () => this.#start(slot));
  }

  #sendLater(source: string, meanMs: number): void {
    this.#time.after(this.#random.untilNext(meanMs), () => {
      if (this.#areFaultsOver) return;
      this.#sendLater(source, meanMs);
      const token = `t${this.#sent.size}`;
      const sent: Sent = { source, isAccepted: false };
      this.#sent.set(token, sent);
      const invocation = JSON.stringify({ source, trigger: "http", event: { token } });
      this.#client
        .request("nats", () => this.#servers.invocations.publish(invocation))
        .then(
          () => (sent.isAccepted = true),
          () => undefined,
        );
    });
  }

  #faultLater(): void {
    this.#time.after(this.#random.untilNext(meanFaultPauseMs), () => {
      if (this.#areFaultsOver) return;
      this.#faultLater();
      const kind = this.#random.pick(faultKinds);
      if (this.#fault(kind, this.#random.untilNext(5_000))) this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    });
  }

  /** @returns false if there is no process for it now */
  #fault(kind: FaultKind, ms: number): boolean {
    const slot = this.#random.pick(this.#slots);
    const { process } = slot;
    this.#log(() => `FAULT ${kind} ${process?.name ?? ""} ${Math.round(ms)} ms`);
    if (isOfServer(kind)) {
      this.#serverFault(kind, ms);
      return true;
    }
    if (process === undefined || !process.isAlive) return false;
    this.#processFault(kind, slot, process, ms);
    return true;
  }

  #serverFault(kind: ServerFault, ms: number): void {
    if (kind === "redelivery") this.#servers.invocations.redeliver();
    else this.#stopServer(kind === "nats down" ? "nats" : "postgres", ms);
  }

  #processFault(kind: ProcessFault, slot: Slot, process: SimulatedProcess, ms: number): void {
    switch (kind) {
      case "kill":
        return this.#restart(slot, ms);
      case "restart":
        return this.#stop(slot, process);
      case "stall":
        return process.stall(ms);
      case "clock step":
        process.skewMs = this.#random.between(-120_000, 120_000);
        return;
      case "cut":
        process.isCut = true;
        this.#time.after(ms, () => (process.isCut = false));
        return;
      default:
        return assertNever(kind);
    }
  }

  /** As a rolling update does: the process gets a signal to stop, is killed if that takes long, and is started again. */
  #stop(slot: Slot, process: SimulatedProcess): void {
    let isOver = false;
    const restart = (): void => {
      if (isOver || slot.process !== process || !process.isAlive) return;
      isOver = true;
      this.#restart(slot, 100);
    };
    this.#time.after(killAfterMs, restart);
    slot.stop().then(restart, restart);
  }

  #stopServer(server: keyof Faults["isDown"], ms: number): void {
    this.#faults.isDown[server] = true;
    this.#time.after(ms, () => {
      this.#faults.isDown[server] = false;
      if (server === "nats") this.#reopenNats();
    });
  }

  #reopenNats(): void {
    const { invocations, deliveries } = this.#servers;
    invocations.forgetIds();
    deliveries.forgetIds();
    invocations.redeliver();
  }

  #heal(): void {
    this.#areFaultsOver = true;
    this.#faults.lossRate = 0;
    this.#servers.receivers.areFaulty = false;
    // Acks that were lost are repeated when a connection is opened again.
    this.#time.after(healMs / 4, () => this.#servers.invocations.redeliver());
    for (const { process } of this.#slots) if (process !== undefined) process.skewMs = 0;
  }

  #log(line: () => string): void {
    this.#options.onLog?.(`${(this.#time.now / 1_000).toFixed(3)} ${line()}`);
  }
}

interface Slot {
  readonly name: string;
  readonly start: typeof startRunnerIn;
  starts: number;
  stop: () => Promise<void>;
  process: SimulatedProcess | undefined;
}

const serverFaults = ["redelivery", "nats down", "postgres down"] as const;
type ServerFault = (typeof serverFaults)[number];
type ProcessFault = "kill" | "restart" | "stall" | "cut" | "clock step";
type FaultKind = ServerFault | ProcessFault;
/** Kills are twice as frequent as each of the others. */
const faultKinds: readonly FaultKind[] = ["kill", "kill", "restart", "stall", "cut", "clock step", ...serverFaults];
const isOfServer = (kind: FaultKind): kind is ServerFault => serverFaults.some((each) => each === kind);

const deploymentOf = (source: string): Deployment => ({ ...deployment, source, owner });
const urlOf = (webhook: string): string => `http://${webhook}.test/`;

const webhookListener = (id: string): Route["listener"] => ({
  kind: "webhook",
  id,
  url: urlOf(id),
  keys: ["sealed"],
  ...(id === "wh_ordered" ? { ordered: true } : {}),
});

const routes: readonly Route[] = [
  ...webhooks.map((id): Route => ({ subscription: id, owner, emitter: id, channel: "", listener: webhookListener(id) })),
  ...rootSources.flatMap((emitter) =>
    webhooks.map((id): Route => ({ subscription: `s_${emitter}${id}`, owner, emitter, channel: "", listener: webhookListener(id) })),
  ),
  ...listeningSources.map((id, n): Route => ({
    subscription: `s_${id}`,
    owner,
    emitter: rootSources[n] ?? "",
    channel: "",
    listener: { kind: "source", id, pool: deployment.pool },
  })),
];

function textOf(fields: object): string {
  return JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : value));
}
