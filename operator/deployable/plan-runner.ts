import type { Resource } from "../../crds/resource.ts";
import { holderOf } from "../../crds/secret-values.ts";
import type { EndConnections } from "../end-connections.ts";
import { defaultExternalPollMs, pollBlockedMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { apply } from "./apply.ts";
import type { AnyObserved, Deployable, DeployableStatus } from "./deployable.ts";
import { FailedUpdates } from "./failed-updates.ts";
import { HookRuns } from "./hook-runs.ts";
import { PropReloads } from "./prop-reloads.ts";
import { report } from "./report.ts";
import { isCommon, type DeployableStep, type RunHook, type WrittenStep } from "./step.ts";

/** Runners send the acks of ended invocations within a quarter of a second. */
const queuePollMs = 150;
/** Delay until the next look at a call of `additionalProps` that runs. */
const reloadPollMs = 500;

/**
 * Runs the steps of plans. Between plans it remembers what no resource records: requested hooks, results of `additionalProps`, and steps of
 * an update that can never succeed. All of it is found again after a restart.
 */
export class PlanRunner<S, T extends DeployableStatus, O extends AnyObserved, Own extends { readonly do: string }> {
  readonly #deployable: Deployable<S, T, O, Own>;
  readonly #config: OperatorConfig;
  readonly #ports: OperatorPorts;
  readonly #endConnections: EndConnections;
  readonly #hooks: HookRuns;
  readonly #reloads: PropReloads;
  readonly #failures = new FailedUpdates();

  constructor(deployable: Deployable<S, T, O, Own>, config: OperatorConfig, ports: OperatorPorts, endConnections: EndConnections) {
    this.#deployable = deployable;
    this.#config = config;
    this.#ports = ports;
    this.#endConnections = endConnections;
    this.#hooks = new HookRuns(config, ports);
    this.#reloads = new PropReloads(ports);
  }

  /** Adds what is remembered of the resource. */
  withMemory(observed: O, { metadata: { uid } }: Resource): O {
    const failure = this.#failures.find(uid, this.#deployable.updateOf(observed));
    return this.#deployable.remember(observed, { failure, reloaded: (use) => this.#reloads.find(keyOf(uid, use)) });
  }

  /** Call it when the plan is empty. @returns ms until the next pass; undefined if none is needed */
  settled(observed: O, resource: Resource<S, T>): number | undefined {
    const { blockedBy, readsUrl, isLive, retryAfterMs } = this.#deployable;
    if (resource.metadata.deletionTimestamp !== undefined) return undefined;
    this.#hooks.forget(observed.id);
    const blocked = blockedBy(observed);
    if (blocked === undefined) this.#reloads.forget(resource);
    const { externalPollMs = defaultExternalPollMs } = this.#config;
    const polls = blocked?.poll === true ? pollBlockedMs(resource.status, readsUrl(resource), this.#ports) : undefined;
    const pollMs = polls ?? (isLive(observed) ? spread(externalPollMs, this.#ports) : undefined);
    const waits = [pollMs, retryAfterMs?.(observed)].filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** @returns ms until the next pass if a hook or a call is running; undefined when the resource can be observed again */
  async run(
    steps: readonly (DeployableStep<T> | Own)[],
    resource: Resource<S, T>,
    observed: O,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let updated = resource;
    for (const step of steps) {
      signal.throwIfAborted();
      const result = await this.#runStep(step, updated, observed, signal);
      if (typeof result === "number") return result;
      if (result === "cannot be done") break;
      updated = result;
      if (step.do === "release") this.#forget(resource, observed);
    }
    return undefined;
  }

  async #runStep(
    step: DeployableStep<T> | Own,
    resource: Resource<S, T>,
    observed: O,
    signal: AbortSignal,
  ): Promise<Resource<S, T> | number | "cannot be done"> {
    if (!isCommon<T, Own>(step)) return this.#write(step, resource, observed, () => this.#applyOwn(step, resource, observed));
    switch (step.do) {
      case "reload-props":
        return (await this.#reload(step, resource, observed, signal)) ? resource : this.#waitForProps(resource, observed);
      case "await-queue":
        return queuePollMs;
      case "end-connections":
        await this.#endConnections(resource);
        return resource;
      case "run-hook": {
        const outcome = await this.#hooks.run(step, signal);
        return outcome.ran ? resource : this.#waitForHook(step, outcome, resource, observed);
      }
      default:
        return this.#write(step, resource, observed, () => this.#apply(step, resource, observed));
    }
  }

  /** A step that can never succeed fails its update: the next plan returns to the previous version, or reports the error. */
  async #write(
    step: WrittenStep<T> | Own,
    { metadata: { uid } }: Resource,
    observed: O,
    write: () => Promise<Resource<S, T>>,
  ): Promise<Resource<S, T> | "cannot be done"> {
    const { updateOf, failsUpdate } = this.#deployable;
    const update = updateOf(observed);
    try {
      return await write();
    } catch (error) {
      const isKnown = this.#failures.find(uid, update) !== undefined;
      if (isKnown || !(error instanceof Error) || !failsUpdate(step.do, error, observed)) throw error;
      this.#failures.add(uid, update, error);
      return "cannot be done";
    }
  }

  #apply(step: WrittenStep<T>, resource: Resource<S, T>, { id }: O): Promise<Resource<S, T>> {
    return apply(step, resource, id, this.#deployable, this.#ports);
  }

  async #applyOwn(step: Own, resource: Resource<S, T>, { id }: O): Promise<Resource<S, T>> {
    await this.#deployable.apply(step, resource, id);
    return resource;
  }

  async #reload(
    { calls }: Extract<DeployableStep<T>, { do: "reload-props" }>,
    resource: Resource<S, T>,
    observed: O,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { kind, uses } = this.#deployable;
    const { id, owner = "" } = observed;
    const endpoint = resource.status.endpoint ?? null;
    const holder = holderOf(kind, resource);
    const known = uses(observed);
    const called = calls.flatMap(({ id: use, digest }) => {
      const found = known.find((each) => each.id === use);
      if (found === undefined) return [];
      return [this.#reloads.run({ ...found, key: keyOf(resource.metadata.uid, use), holder, owner, id, endpoint }, digest, signal)];
    });
    return (await Promise.all(called)).every((hasEnded) => hasEnded);
  }

  /** Returns so that other resources get a turn: the call may take up to its time limit, or wait for a pool to start. */
  async #waitForProps(resource: Resource<S, T>, observed: O): Promise<number> {
    const { calledComponent, reportBlocked } = this.#deployable;
    const message = `additionalProps of ${calledComponent} was called and has not ended: check that a runner is up`;
    for (const step of reportBlocked(observed, { reason: "AdditionalPropsPending", message, transient: true }))
      if (isCommon<T, Own>(step) && step.do === "report") await this.#apply(step, resource, observed);
    return reloadPollMs;
  }

  /** Returns so that other resources get a turn. Most hooks finish within seconds; an overdue one has no runner, or only slow ones. */
  async #waitForHook(
    { hook }: RunHook,
    { requestedAt, isNewRequest }: { readonly requestedAt: number; readonly isNewRequest: boolean },
    resource: Resource<S, T>,
    observed: O,
  ): Promise<number> {
    const { hookTimeoutMs } = this.#config;
    const waitedMs = this.#ports.clock.now() - requestedAt;
    const pollMs = waitedMs < 30_000 ? 500 : 5_000;
    if (resource.metadata.deletionTimestamp !== undefined) {
      // Conditions of a resource in deletion are not read.
      const message = `the deletion waits for hook ${hook}, for at most ${Math.round(hookTimeoutMs / 1_000)} s`;
      if (isNewRequest) this.#ports.events.record(resource, { type: "Normal", reason: "DeletionWaits", message });
      return pollMs;
    }
    const since = `hook ${hook} was requested at ${new Date(requestedAt).toISOString()}`;
    const [reason, message] =
      waitedMs < hookTimeoutMs ? ["HookRunning", since] : ["HookOverdue", `${since} and has not run: check that a runner is up`];
    const verdict = { ready: false, transient: true, reason, message };
    for (const step of report(resource, this.#deployable.healthOf, {}, verdict, undefined)) await this.#apply(step, resource, observed);
    return pollMs;
  }

  #forget(resource: Resource<S, T>, { id }: O): void {
    this.#reloads.forget(resource);
    this.#failures.forget(resource.metadata.uid);
    this.#hooks.forget(id);
    this.#deployable.forget?.(resource);
  }
}

const keyOf = (uid: string, use: string): string => `${uid} ${use}`;
