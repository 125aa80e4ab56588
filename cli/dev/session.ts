import { hash } from "node:crypto";
import type { Client } from "../../client/client.ts";
import type { ConnectionState, ServerSentEvent } from "../../client/follow.ts";
import type { Event, LogLine, Source } from "../../client/generated/operations.ts";
import { endpointsOf } from "../output/endpoints.ts";
import { collectFiles } from "../component/files.ts";
import type { Sending } from "../component/sending.ts";
import type { Context } from "../context.ts";
import { failureOf } from "../failure.ts";
import { eventLine, logLines } from "../output/events.ts";
import type { GivenValues } from "../props/given-values.ts";
import { lastEventOf } from "../run-source.ts";
import { deployFirst, redeploy } from "./deployment.ts";
import { LocalEndpoint } from "./local-endpoint.ts";
import { FileWatch } from "./watch-files.ts";

export interface SessionOptions {
  readonly file: string;
  /** Name of the personal source. */
  readonly name: string;
  /** Instead of a personal source. */
  readonly existing?: Source | undefined;
  readonly given: GivenValues;
  /** Collects the files of the first deployment, and lists them. */
  readonly sending: Sending;
  /** Folder below which files are sent. */
  readonly root: string | undefined;
  /** Port of the local endpoint; 0: any. */
  readonly port: number;
}

/** `hw dev` from the first deployment to the end: redeploys on save, and prints what happens. */
export class DevSession {
  readonly #context: Context;
  readonly #options: SessionOptions;
  readonly #watch: FileWatch;
  readonly #endpoint: LocalEndpoint;
  #source: Source | undefined;
  #deployedHash = "";
  /** Deployments one after the other. */
  #deploying: Promise<void> = Promise.resolve();
  #isQueued = false;

  constructor(context: Context, options: SessionOptions) {
    this.#context = context;
    this.#options = options;
    this.#watch = new FileWatch(() => this.#queueDeployment());
    this.#endpoint = new LocalEndpoint({
      port: options.port,
      target: () => (this.#source === undefined ? undefined : endpointsOf(this.#source)[0]),
      // Floats: it only prints.
      onResponse: ({ method, path }, status, ms) =>
        void this.#report("request", { method, path, status }, `→ ${method} ${path} ${status} in ${Math.round(ms)}ms`),
    });
  }

  get source(): Source | undefined {
    return this.#source;
  }

  get endpoint(): string {
    return this.#endpoint.url;
  }

  /** Deploys the file. @throws Failure if it cannot be deployed */
  async start(): Promise<Source> {
    const { file, root } = this.#options;
    const startedAt = performance.now();
    const files = await collectFiles(file, { root });
    const { source, warnings, isNew } = await this.#context.terminal.progress("Deploying", () => deployFirst(this.#context, this.#options));
    this.#source = source;
    this.#deployedHash = hashOf(files.component_files);
    this.#watch.set(files.paths);
    await this.#endpoint.start();
    const what = isNew ? "created" : "updated";
    await this.#report(
      "deployed",
      { id: source.id, name: source.name_slug },
      `✓ source ${source.name_slug} ${what} in ${elapsed(startedAt)}`,
    );
    this.#warn(warnings);
    return source;
  }

  /**
   * Prints events and log lines until the signal aborts.
   *
   * @param onConnected called once, when what the source emits and logs from now on is printed
   */
  async follow(source: Source, signal: AbortSignal, onConnected: () => void): Promise<void> {
    const { client } = this.#context;
    const path = { id: source.id };
    const waiting = new Set(["events", "logs"]);
    const connected = (stream: string): void => {
      if (waiting.delete(stream) && waiting.size === 0) onConnected();
    };
    const note = this.#connectionNotes();
    const onState = (state: ConnectionState): void => {
      note(state);
      if (state.state === "connected") connected("events");
    };
    const events = client.follow("streamEvents", { path, query: {} }, { signal, onState });
    const logs = client.follow("streamLogs", { path }, { signal, onState: ({ state }) => state === "connected" && connected("logs") });
    await Promise.all([this.#print(events, (frame) => this.#showEvent(frame)), this.#print(logs, (frame) => this.#showLog(frame))]);
  }

  async runNow(client: Client): Promise<void> {
    await this.#attempt("run", async ({ id }) => {
      const { data } = await client.call("runSource", { path: { id }, body: {} });
      if (data.status === "running") this.#context.out.note("the run has started");
    });
  }

  /** Sends the last request again, or runs the source with the last stored event. */
  async repeatLast(client: Client): Promise<void> {
    await this.#attempt("last event", async ({ id }) => {
      const { last } = this.#endpoint;
      if (last !== undefined) return void (await this.#endpoint.forward(last));
      await client.call("runSource", { path: { id }, body: { ...(await lastEventOf(client, id)) } });
    });
  }

  async close(): Promise<void> {
    this.#watch.close();
    await this.#endpoint.close();
    await this.#deploying;
  }

  #queueDeployment(): void {
    if (this.#isQueued) return; // The queued deployment reads the newest files.
    this.#isQueued = true;
    this.#deploying = this.#deploying.then(async () => {
      this.#isQueued = false;
      await this.#attempt("deployment", (source) => this.#redeploy(source));
    });
  }

  async #redeploy(before: Source): Promise<void> {
    const startedAt = performance.now();
    const { file, root } = this.#options;
    const files = await collectFiles(file, { root });
    this.#watch.set(files.paths);
    const current = hashOf(files.component_files);
    if (current === this.#deployedHash) return;
    this.#deployedHash = current;
    const { source, warnings } = await redeploy(this.#context.client, before, files);
    this.#source = source;
    await this.#report("deployed", { id: source.id, name: source.name_slug }, `✓ deployed in ${elapsed(startedAt)}`);
    this.#warn(warnings);
  }

  /** Reports a failure, after which the session goes on: of a deployment, the version before it still runs. */
  async #attempt(what: string, act: (source: Source) => Promise<void>): Promise<void> {
    const { signal, terminal } = this.#context;
    try {
      if (this.#source !== undefined) await act(this.#source);
    } catch (error) {
      if (signal.aborted) return;
      const { message, hint } = failureOf(error);
      const goesOn = what === "deployment" ? ["  the version before it still runs"] : [];
      const [first = "", ...rest] = message.split("\n");
      const lines = [terminal.style("red", `✗ ${first}`), ...rest, ...(hint === undefined ? [] : [`  ${hint}`]), ...goesOn];
      await this.#report("error", { what, message }, lines.join("\n"));
    }
  }

  async #print(frames: AsyncGenerator<ServerSentEvent, void>, show: (frame: ServerSentEvent) => Promise<void>): Promise<void> {
    for await (const frame of frames) await show(frame);
  }

  async #showEvent({ data }: ServerSentEvent): Promise<void> {
    const event = JSON.parse(data) as Event; // As the document of the stream says.
    await this.#report("event", { event }, this.#context.terminal.style("cyan", `◆ ${eventLine(event)}`));
  }

  async #showLog({ data }: ServerSentEvent): Promise<void> {
    const value = JSON.parse(data) as LogLine & { readonly event?: LogLine }; // As the document of the stream says.
    const line = value.event ?? value;
    const text = logLines(line)
      .map((each) => `  ${each}`)
      .join("\n");
    await this.#report(
      "log",
      { line },
      line.err === undefined ? this.#context.terminal.style("dim", text) : this.#context.terminal.style("red", text),
    );
  }

  #connectionNotes(): (state: ConnectionState) => void {
    const { out } = this.#context;
    let isLost = false;
    return (state) => {
      if (state.state === "lost" && !isLost) out.note(`hw: the connection is lost, connecting again (${state.error.message})`);
      if (state.state === "connected" && isLost) out.note("hw: connected again");
      isLost = state.state === "lost";
    };
  }

  #warn(warnings: readonly string[]): void {
    for (const message of warnings) this.#context.out.note(this.#context.terminal.style("yellow", `  warning: ${message}`));
  }

  #report(type: string, value: object, text: string): Promise<void> {
    return this.#context.out.record({ type, ...value }, () => [text]);
  }
}

const elapsed = (since: number): string => `${Math.round(performance.now() - since)}ms`;
const hashOf = (files: Readonly<Record<string, string>>): string => hash("sha256", JSON.stringify(files));
