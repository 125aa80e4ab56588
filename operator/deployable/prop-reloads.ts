import type { ComponentResource } from "../../crds/component.ts";
import type { Resource } from "../../crds/resource.ts";
import type { SecretHolder } from "../../crds/secret-values.ts";
import { HeadwaterError, UserCode, Unavailable } from "../../domain/errors.ts";
import { configure, type ConfiguredComponent } from "../configure/configure.ts";
import type { OperatorPorts } from "../ports.ts";
import { boundProps } from "../../domain/component/configure.ts";
import type { Configured, ReloadResult } from "../configured/additional-props.ts";
import type { Blocked } from "../configured/blocked.ts";
import { currentBuild } from "../configured/component.ts";
import { aborted } from "../../domain/retry.ts";

/** What is called: the component of a source or step, with its values. */
export interface Reloadable extends Configured {
  /** Identifies the source or step: its resource's uid, or a key that begins with that. */
  readonly key: string;
  readonly holder: SecretHolder;
  readonly owner: string;
  /** Public id of the source or workflow. */
  readonly id: string;
  readonly component: ComponentResource | undefined;
  readonly endpoint: string | null;
}

/** How long a pass waits for a call. Longer waits would block the reconciliation of other sources. */
const waitMs = 3_000;
/** Longer than for a user who waits, because a sleeping pool must start first. */
const deadlineMs = 60_000;
/** Delay before a transient failure is retried. */
const retryMs = 1_000;

interface Reload {
  readonly digest: string;
  readonly call: Promise<void>;
  outcome?: ReloadResult;
  /** Epoch ms at which a transient outcome expires. */
  until?: number;
}

/**
 * Calls of `additionalProps` for deployments: one at a time per source or step, with the last outcome. An error thrown by the component stays until
 * the component or its values change.
 */
export class PropReloads {
  readonly #ports: OperatorPorts;
  /** By the key of the source or step. */
  readonly #reloads = new Map<string, Reload>();

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  find(key: string): ReloadResult | undefined {
    const reload = this.#reloads.get(key);
    if (reload?.until === undefined || this.#ports.clock.now() < reload.until) return reload?.outcome;
    this.#reloads.delete(key);
    return undefined;
  }

  /** Forgets everything of a resource. */
  forget({ metadata: { uid } }: Resource): void {
    for (const key of this.#reloads.keys()) if (key.startsWith(uid)) this.#reloads.delete(key);
  }

  /** Waits briefly. @returns whether there is an outcome */
  async run(called: Reloadable, digest: string, signal: AbortSignal): Promise<boolean> {
    const before = this.#reloads.get(called.key);
    const reload = before?.digest === digest && before.outcome === undefined ? before : this.#start(called, digest);
    this.#reloads.set(called.key, reload);
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    await Promise.race([reload.call, aborted(timeout)]);
    return reload.outcome !== undefined;
  }

  #start(called: Reloadable, digest: string): Reload {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reload: Reload = { digest, call: promise };
    const settle = (outcome: ReloadResult): void => {
      reload.outcome = outcome;
      if ("blocked" in outcome && outcome.blocked.transient) reload.until = this.#ports.clock.now() + retryMs;
      resolve();
    };
    reloadProps(called, this.#ports).then(
      (props) => settle({ digest, props }),
      (error: unknown) => settle({ digest, blocked: this.#blockedBy(error) }),
    );
    return reload;
  }

  #blockedBy(error: unknown): Blocked {
    if (error instanceof UserCode)
      return {
        reason: "AdditionalPropsFailed",
        transient: false,
        message: `additionalProps failed: ${error.message}`,
      };
    if (!(error instanceof HeadwaterError))
      this.#ports.log.error({ op: "source.props", err: error }, "additionalProps of a component cannot be called");
    const why = error instanceof HeadwaterError ? error.message : "an unexpected error, see the log of the operator";
    const transient = !(error instanceof HeadwaterError) || error instanceof Unavailable || [429, 504].includes(error.status);
    const message = `additionalProps cannot be called: ${why}`;
    return { reason: transient ? "AdditionalPropsPending" : "AdditionalPropsFailed", transient, message, poll: transient };
  }
}

/** Includes the previous additional props, because they have values too. */
async function reloadProps({ component, spec, status, holder, owner, id, endpoint }: Reloadable, ports: OperatorPorts) {
  const build = currentBuild(component);
  if (build === undefined) throw new Unavailable("the component is not built");
  const own = new Set(build.definition.props.map(({ name }) => name));
  const previous = (status.configurableProps ?? []).filter(({ name }) => !own.has(name));
  const definition = { ...build.definition, props: [...build.definition.props, ...previous] };
  const configured: ConfiguredComponent = {
    holder,
    owner,
    id,
    build: { ...build, definition },
    spec,
    additionalProps: boundProps(build.definition, definition.props),
    endpoint,
  };
  const result = await configure(configured, { kind: "props", ...(previous.length === 0 ? {} : { previous }) }, deadlineMs, ports);
  return result.outcome === "props" ? result.props : [];
}
