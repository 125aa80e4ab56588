import { HeadwaterError, UserCode, Unavailable } from "../../domain/errors.ts";
import { configure, type ConfiguredComponent } from "../configure/configure.ts";
import type { OperatorPorts } from "../ports.ts";
import { boundProps, type Reloaded } from "./additional-props.ts";
import type { Blocked } from "./blocked.ts";
import { currentBuild } from "./component-of.ts";
import type { Observed, SourceResource } from "./observed.ts";

/** A call that takes longer is looked for again later: whoever waits for it holds up other sources. */
const waitMs = 3_000;
/** Longer than the patience of a person who configures, since a pool that sleeps has to wake first. */
const deadlineMs = 60_000;
/** What failed for a reason that passes is tried again after this. */
const retryMs = 1_000;

interface Reload {
  readonly digest: string;
  readonly call: Promise<void>;
  outcome?: Reloaded;
  /** Epoch ms from which on the outcome is worth nothing. */
  until?: number;
}

/**
 * Calls of `additionalProps` for sources that are deployed: one at a time for each source, and what came of the last one. An error of
 * the component's stays until it or its values change.
 */
export class PropReloads {
  readonly #ports: OperatorPorts;
  /** By the source's uid. */
  readonly #reloads = new Map<string, Reload>();

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  find({ metadata }: SourceResource): Reloaded | undefined {
    const reload = this.#reloads.get(metadata.uid);
    if (reload?.until === undefined || this.#ports.clock.now() < reload.until) return reload?.outcome;
    this.#reloads.delete(metadata.uid);
    return undefined;
  }

  forget({ metadata }: SourceResource): void {
    this.#reloads.delete(metadata.uid);
  }

  /** Waits a little. @returns whether there is an outcome */
  async run(observed: Observed, digest: string, signal: AbortSignal): Promise<boolean> {
    const { uid } = observed.source.metadata;
    const before = this.#reloads.get(uid);
    const reload = before?.digest === digest && before.outcome === undefined ? before : this.#start(observed, digest);
    this.#reloads.set(uid, reload);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    await Promise.race([reload.call, untilAborted(patience)]);
    return reload.outcome !== undefined;
  }

  #start(observed: Observed, digest: string): Reload {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reload: Reload = { digest, call: promise };
    const settle = (outcome: Reloaded): void => {
      reload.outcome = outcome;
      if ("blocked" in outcome && outcome.blocked.passing) reload.until = this.#ports.clock.now() + retryMs;
      resolve();
    };
    reloadProps(observed, this.#ports).then(
      (props) => settle({ digest, props }),
      (error: unknown) => settle({ digest, blocked: this.#blockedBy(error) }),
    );
    return reload;
  }

  #blockedBy(error: unknown): Blocked {
    if (error instanceof UserCode)
      return {
        reason: "AdditionalPropsFailed",
        passing: false,
        message: `the component's additional props cannot be had: ${error.message}`,
      };
    if (!(error instanceof HeadwaterError))
      this.#ports.log.error({ op: "source.props", err: error }, "the additional props of a source cannot be asked for");
    const why = error instanceof HeadwaterError ? error.message : "an unexpected error, which the log of the operator tells";
    const passing = !(error instanceof HeadwaterError) || error instanceof Unavailable || [429, 504].includes(error.status);
    const message = `the component's additional props cannot be asked for: ${why}`;
    return { reason: passing ? "AdditionalPropsPending" : "AdditionalPropsFailed", passing, message, lookAgain: passing };
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** With the props that were additional before: they have values, too. */
async function reloadProps(observed: Observed, ports: OperatorPorts) {
  const { source, owner = "", component } = observed;
  const build = currentBuild(component);
  if (build === undefined) throw new Unavailable("the component is not built");
  const { spec, status, metadata } = source;
  const own = new Set(build.definition.props.map(({ name }) => name));
  const previous = (status.configurableProps ?? []).filter(({ name }) => !own.has(name));
  const definition = { ...build.definition, props: [...build.definition.props, ...previous] };
  const configured: ConfiguredComponent = {
    namespace: metadata.namespace,
    owner,
    id: status.id ?? "",
    build: { ...build, definition },
    spec,
    additionalProps: boundProps(build.definition, definition.props),
    endpoint: status.endpoint ?? null,
  };
  const told = await configure(configured, { kind: "props", ...(previous.length === 0 ? {} : { previous }) }, deadlineMs, ports);
  return told.outcome === "props" ? told.props : [];
}
