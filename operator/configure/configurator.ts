import { holderOf, type SecretHolder } from "../../crds/secret-values.ts";
import { componentKind, type ComponentResource } from "../../crds/component.ts";
import { runningSpec, sourceKind, type SourceSpec } from "../../crds/source.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { configureLimits, type ConfigureCall, type ConfiguredOptions, type ConfiguredProps } from "../../domain/component/configure.ts";
import type { Build, ComponentDefinition, PropDefinition } from "../../domain/component/definition.ts";
import { HeadwaterError, InvalidInput, NotFound, QuotaExceeded } from "../../domain/errors.ts";
import { knownProps } from "../../domain/workflow/step-props.ts";
import { boundProps } from "../../domain/component/configure.ts";
import { buildOf } from "./build-of.ts";
import { configure, type ConfiguredComponent, type ConfigurePorts } from "./configure.ts";
import type { OperatorPorts } from "../ports.ts";

/** A call of a component's function, requested while a user configures it. The API has authorized it. */
export interface ConfigureRequest {
  readonly namespace: string;
  /** Name of the Component. */
  readonly component: string;
  /** Name of a Source that runs it: provides secrets that the request leaves out, and all props when the request has none. */
  readonly source?: string | undefined;
  /** The same for a step: name of the Workflow, and of the step. */
  readonly workflow?: string | undefined;
  readonly step?: string | undefined;
  /** Values by prop name, including secret ones. */
  readonly props?: Readonly<Record<string, unknown>> | undefined;
  readonly call: ConfigureCall;
}

type Ports = ConfigurePorts & Pick<OperatorPorts, "owners" | "log">;

/** Concurrent calls per namespace. They share runners with sources. */
const maxConcurrentCalls = 8;

/** Serves `options` and `additionalProps` to clients of the API. */
export class Configurator {
  readonly #ports: Ports;
  readonly #running = new Map<string, number>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** @throws NotFound, InvalidInput for a prop without options, QuotaExceeded, Unavailable, and what `configure` throws */
  async answer(request: ConfigureRequest): Promise<ConfiguredOptions | ConfiguredProps> {
    const { namespace, call } = request;
    const { component, stored, owner } = await this.#read(request);
    const build = buildOf(component);
    const configured = configuredComponent(request, owner, component, build, stored);
    const known = knownAnswer(call, configured.build.definition, build.definition.hasAdditionalProps);
    if (known !== undefined) return known;
    const running = this.#running.get(namespace) ?? 0;
    if (running >= maxConcurrentCalls)
      throw new QuotaExceeded(`${maxConcurrentCalls} calls of your components are in progress: wait until one has ended`, {
        code: "too_many_calls",
      });
    this.#running.set(namespace, running + 1);
    try {
      return await configure(configured, call, configureLimits.deadlineMs, this.#ports);
    } catch (error) {
      if (!(error instanceof HeadwaterError))
        this.#ports.log.error({ op: "component.configure", err: error }, "a call failed unexpectedly");
      throw error;
    } finally {
      const left = (this.#running.get(namespace) ?? 1) - 1;
      if (left > 0) this.#running.set(namespace, left);
      else this.#running.delete(namespace);
    }
  }

  /** Reads from the store: a new resource may not be in the cache yet. */
  async #read(request: ConfigureRequest) {
    const { store, owners } = this.#ports;
    const [component, stored, owner] = await Promise.all([
      store.get(componentKind, request.namespace, request.component),
      this.#stored(request),
      owners.ownerOf(request.namespace),
    ]);
    if (owner === undefined) throw new NotFound();
    return { component, stored, owner };
  }

  async #stored({ namespace, source, workflow, step }: ConfigureRequest): Promise<Stored | undefined> {
    const { store } = this.#ports;
    if (source !== undefined) {
      const found = await store.get(sourceKind, namespace, source);
      return { ...found.status, holder: holderOf(sourceKind, found), spec: runningSpec(found) };
    }
    if (workflow === undefined) return undefined;
    const resource = await store.get(workflowKind, namespace, workflow);
    const { spec, status } = resource;
    const found = stepsOf(spec).find(({ node }) => node.name === step)?.node;
    if (found === undefined) return undefined;
    const { configurableProps } = status.steps?.find(({ name }) => name === step) ?? {};
    // An expression has no value yet, so its prop counts as not chosen.
    const holder = holderOf(workflowKind, resource);
    return {
      id: status.id,
      holder,
      configurableProps,
      spec: { props: knownProps(found.props) as SourceSpec["props"], secrets: found.secrets },
    };
  }
}

/** A source or step whose values are the default. */
interface Stored {
  readonly holder: SecretHolder;
  readonly id?: string | undefined;
  readonly configurableProps?: readonly PropDefinition[] | undefined;
  readonly endpoint?: string | undefined;
  readonly spec: Pick<SourceSpec, "props" | "secrets">;
}

/** Includes the additional props of the last deployment, because they have values too. */
function configuredComponent(
  request: ConfigureRequest,
  owner: string,
  component: ComponentResource,
  build: Build,
  stored: Stored | undefined,
): ConfiguredComponent {
  const { definition } = build;
  const own = new Set(definition.props.map(({ name }) => name));
  const additional = definition.hasAdditionalProps ? (stored?.configurableProps ?? []).filter(({ name }) => !own.has(name)) : [];
  const all = { ...definition, props: [...definition.props, ...additional] };
  return {
    holder: stored?.holder ?? holderOf(componentKind, component),
    owner,
    id: stored?.id ?? component.status.id ?? "",
    build: { ...build, definition: all },
    spec: mergedSpec(request, stored?.spec),
    additionalProps: boundProps(definition, all.props),
    endpoint: stored?.endpoint ?? null,
  };
}

/** Keeps a stored secret that the request leaves out: clients cannot read it to send it back. Null removes it. */
function mergedSpec({ props }: ConfigureRequest, stored: Stored["spec"] | undefined): ConfiguredComponent["spec"] {
  const given = props ?? stored?.props ?? {};
  const secrets = Object.entries(stored?.secrets ?? {}).filter(([name]) => !Object.hasOwn(given, name));
  // Both come from JSON.
  return { props: given as SourceSpec["props"], secrets: Object.fromEntries(secrets) };
}

/** The answer when no call is needed: static options, or the props of a component without additional ones. */
function knownAnswer(
  call: ConfigureCall,
  definition: ComponentDefinition,
  hasAdditional: boolean,
): ConfiguredOptions | ConfiguredProps | undefined {
  if (call.kind === "props") return hasAdditional ? undefined : { outcome: "props", props: definition.props };
  const prop = definition.props.find(({ name }) => name === call.prop);
  if (prop?.options !== undefined) return { outcome: "options", options: prop.options, context: null, truncated: false };
  if (prop?.remoteOptions === true || hasAdditional) return undefined;
  const names = definition.props.map(({ name }) => name).join(", ");
  if (prop === undefined)
    throw new InvalidInput(`prop '${call.prop}' is unknown: the component has ${names === "" ? "no props" : names}`, {
      code: "unknown_prop",
    });
  throw new InvalidInput(`prop '${call.prop}' has no options: enter its value`, { code: "no_options" });
}
