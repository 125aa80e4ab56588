import { configureLimits, type Configuration, type ConfigureCall, type Configured } from "../../domain/component/configure.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { readProps } from "../sandbox/isolate/definition.ts";
import type { ExecuteRequest, Execution } from "../sandbox/port.ts";
import { mapErrorStack } from "./map-stacks.ts";

type Ports = Pick<RunnerPorts, "sandbox" | "bundles" | "stacks" | "secrets" | "answer" | "clock" | "log">;

/**
 * Makes a `configure` call and answers its caller. It reads no state and commits nothing. After its deadline the call is dropped, because
 * the caller has stopped waiting. A call that is redelivered is made twice, and the first answer counts.
 *
 * @throws Unavailable when it must be retried later
 */
export async function answerConfigure(
  { source: call, answerTo, configure: configuration }: Invocation,
  config: Pick<RunnerConfig, "memoryMb">,
  ports: Ports,
): Promise<void> {
  if (configuration === undefined || answerTo === undefined) return;
  const startedAt = ports.clock.now();
  const timeoutMs = Math.min(configuration.deadline - startedAt, configureLimits.timeoutMs);
  const configured = timeoutMs <= 0 ? undefined : await configure(call, configuration, timeoutMs, config, ports);
  if (configured !== undefined) ports.answer(answerTo, { kind: "configured", configured });
  const outcome = configured === undefined ? "dropped" : configured.outcome === "failed" ? (configured.error.code ?? "threw") : "ok";
  const { owner, component, call: what } = configuration;
  const durationMs = ports.clock.now() - startedAt;
  ports.log.info(
    { op: "component.configure", outcome, call: what.kind, "component.id": component, "owner.id": owner, durationMs },
    "configure",
  );
}

async function configure(
  call: string,
  configuration: Configuration,
  timeoutMs: number,
  config: Pick<RunnerConfig, "memoryMb">,
  ports: Ports,
): Promise<Configured> {
  const request = await requestOf(call, configuration, { timeoutMs, memoryMb: config.memoryMb }, ports);
  if ("outcome" in request) return request;
  const execution = await ports.sandbox.execute(request);
  const configured = parseConfigured(configuration.call, await mapErrorStack(execution, configuration.bundle, ports.stacks));
  if (configured.outcome !== "failed") return configured;
  const mask = new SecretMask(secretValues(request.props, configuration.secretProps));
  return { outcome: "failed", error: mask.error(configured.error) };
}

function secretValues(props: string, names: readonly string[] = []): readonly unknown[] {
  const values = JSON.parse(props) as Readonly<Record<string, unknown>>; // Sealed by the operator from a record.
  return names.map((name) => values[name]);
}

async function requestOf(
  call: string,
  configuration: Configuration,
  limits: ExecuteRequest["limits"],
  ports: Ports,
): Promise<ExecuteRequest | ReturnType<typeof failed>> {
  const { owner, component, bundle, needsNode, props, additionalProps, endpoint } = configuration;
  try {
    return {
      source: call,
      owner,
      revision: call,
      bundle: { hash: bundle, path: await ports.bundles.path(bundle), needsNode },
      entry: "configure",
      event: JSON.stringify(configuration.call),
      props: await ports.secrets.open(props),
      db: {},
      endpoint,
      ...(additionalProps === undefined ? {} : { additionalProps }),
      environment: { PD_COMPONENT: component },
      limits,
    };
  } catch (error) {
    // The bundle was deleted, or the props were sealed for another pool. A retry would fail in the same way.
    if (!(error instanceof HeadwaterError) || error instanceof Unavailable) throw error;
    return failed(error.code, error.message);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Validates the result of a call. It is untrusted: user code shares its realm with the runtime that returns the result. */
export function parseConfigured(call: ConfigureCall, execution: Execution): Configured {
  switch (execution.outcome) {
    case "returned":
      return call.kind === "options" ? parseOptions(call.prop, parseObject(execution.result)) : parseProps(execution.result);
    case "threw":
    case "limited":
      return { outcome: "failed", error: execution.error };
    case "crashed":
      return failed("runner_crash", `the process of this call ended twice: ${execution.message}`);
  }
}

function parseOptions(prop: string, result: Fields | undefined): Configured {
  const { options, context, truncated } = result ?? {};
  if (!Array.isArray(options) || !options.every(isOption))
    return failed("invalid_options", `options of prop '${prop}' did not return a list of values or {label, value}, or returned too many`);
  if (JSON.stringify(context ?? null).length > configureLimits.contextCharacters)
    return failed("invalid_options", `the context of prop '${prop}' has more than ${configureLimits.contextCharacters} characters of JSON`);
  const kept = options.slice(0, configureLimits.options);
  return { outcome: "options", options: kept, context: context ?? null, truncated: truncated === true || kept.length < options.length };
}

function parseProps(result: string | null): Configured {
  const { propsCharacters, props: maxProps } = configureLimits;
  const found = result !== null && result.length <= propsCharacters ? parseObject(result) : undefined;
  if (found === undefined)
    return failed("invalid_props", `additionalProps returned more than ${propsCharacters} characters of JSON, the limit`);
  const read = readProps(found["props"]);
  if ("code" in read) return failed(read.code, `additionalProps: ${read.message}`);
  if (read.props.length > maxProps)
    return failed("invalid_props", `the component has ${read.props.length} props with those of additionalProps: the limit is ${maxProps}`);
  return { outcome: "props", props: read.props };
}

function isOption(option: unknown): boolean {
  if (typeof option === "object") return option !== null && "value" in option;
  return typeof option === "string" || typeof option === "number" || typeof option === "boolean";
}

/** The sandbox has checked that the text is JSON of a bounded length and depth. */
function parseObject(text: string | null): Fields | undefined {
  const value: unknown = text === null ? undefined : JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Fields) : undefined; // An object: its fields are read by name.
}

function failed(code: string, message: string): { readonly outcome: "failed"; readonly error: RunError } {
  return { outcome: "failed", error: { name: "ConfigureError", code, message } };
}
