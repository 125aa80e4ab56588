import type { SecretHolder } from "../../crds/secret-values.ts";
import type { SourceSpec } from "../../crds/source.ts";
import type {
  BoundProp,
  Configuration,
  ConfigureCall,
  Configured,
  ConfiguredOptions,
  ConfiguredProps,
} from "../../domain/component/configure.ts";
import type { Build } from "../../domain/component/definition.ts";
import { receivedCode } from "../../domain/error-codes.ts";
import { HeadwaterError, InvalidInput, NotFound, QuotaExceeded, UserCode } from "../../domain/errors.ts";
import { callsRefusedCode } from "../../domain/run/kills.ts";
import { runtimeProps } from "../../domain/component/prop-values.ts";
import type { OperatorPorts } from "../ports.ts";
import { readSecretProps, secretPropsOf } from "../configured/secret-props.ts";

export type ConfigurePorts = Pick<OperatorPorts, "store" | "secretValues" | "secrets" | "pools" | "configurations" | "clock" | "newId">;

/** A component and the values configured so far. */
export interface ConfiguredComponent {
  /** Whose secrets the spec refers to. */
  readonly holder: SecretHolder;
  readonly owner: string;
  /** Public id of the component, or of the source that runs it. */
  readonly id: string;
  /** Its definition lists the props that have values. */
  readonly build: Build;
  readonly spec: Pick<SourceSpec, "props" | "secrets">;
  readonly additionalProps: readonly BoundProp[];
  readonly endpoint: string | null;
}

/**
 * Calls the component in a runner of the owner's pool, with secrets and accounts as in a deployment, sealed for that pool.
 * @throws UserCode for an error of the component or an exceeded limit, InvalidInput for an unreadable secret or account, QuotaExceeded
 * `too_many_kills`, Unavailable; 504 `configure_timeout` when no runner replies in time
 */
export async function configure(
  component: ConfiguredComponent,
  call: ConfigureCall,
  deadlineMs: number,
  ports: ConfigurePorts,
): Promise<ConfiguredOptions | ConfiguredProps> {
  const deadline = ports.clock.now() + deadlineMs;
  const pool = ports.pools.poolOf(component.owner);
  const values = await valuesOf(component, ports);
  const { bundle, needsNode } = component.build;
  const configuration: Configuration = {
    call,
    owner: component.owner,
    component: component.id,
    bundle,
    needsNode,
    props: await ports.secrets.sealForPool(pool, JSON.stringify(values)),
    secretProps: secretPropNames(component),
    ...(component.additionalProps.length === 0 ? {} : { additionalProps: component.additionalProps }),
    endpoint: component.endpoint,
    deadline,
  };
  const configured = await ports.configurations.ask(pool, ports.newId("run"), configuration, AbortSignal.timeout(deadlineMs));
  if (configured === undefined) throw timeoutError(pool, deadlineMs);
  return checkResult(call, configured);
}

/** Includes secret props whose values came with the request and are not stored secrets of a source. */
function secretPropNames(component: ConfiguredComponent): readonly string[] {
  const { definition } = component.build;
  const declared = definition.props.filter(({ secret }) => secret === true).map(({ name }) => name);
  return [...new Set([...Object.keys(secretPropsOf(component, definition)), ...declared])];
}

async function valuesOf({ holder, spec, build }: ConfiguredComponent, ports: ConfigurePorts): Promise<object> {
  try {
    const secrets = await readSecretProps(holder, secretPropsOf({ spec }, build.definition), ports);
    return { ...runtimeProps(build.definition, spec.props), ...secrets };
  } catch (error) {
    // For this endpoint a missing secret or account is invalid input, not an unknown address.
    if (error instanceof NotFound) throw new InvalidInput(error.message, { code: "not_configurable", cause: error });
    throw error;
  }
}

function checkResult(call: ConfigureCall, configured: Configured): ConfiguredOptions | ConfiguredProps {
  if (configured.outcome === "failed") {
    const { name, message, code, stack } = configured.error;
    if (code === callsRefusedCode) throw new QuotaExceeded(message, { code });
    const what = call.kind === "options" ? `options of prop '${call.prop}'` : "additionalProps";
    throw new UserCode(code === undefined ? `${what} threw ${name}: ${message}` : message, {
      code: code === undefined ? "user_code" : receivedCode(code),
      details: { name, message, ...(stack === undefined ? {} : { stack }) },
    });
  }
  if (configured.outcome === call.kind) return configured;
  throw new UserCode("the runner replied to a different call", { code: "invalid_answer" });
}

function timeoutError(pool: string, deadlineMs: number): HeadwaterError {
  const message = `no runner of pool '${pool}' replied within ${Math.round(deadlineMs / 1000)} s: it may be busy or starting, try again`;
  return new HeadwaterError(504, "configure_timeout", message);
}
