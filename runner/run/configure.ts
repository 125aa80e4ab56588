import { configureLimits, type Configuration, type Configured } from "../../domain/component/configure.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { configuredOf, failed } from "./configured.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { withReadableStack } from "./map-stacks.ts";
import type { ExecuteRequest } from "../sandbox/port.ts";

type Ports = Pick<RunnerPorts, "sandbox" | "bundles" | "stacks" | "secrets" | "answer" | "clock" | "log">;

/**
 * Makes a call of a component that somebody configures, and answers whoever asked: no history, no commit, no events. Nobody waits
 * for one that is past its deadline, so it is dropped; one that is delivered twice is made twice, and the first answer counts.
 *
 * @throws Unavailable when it must be tried again later.
 */
export async function answerConfigure(
  { source: call, answerTo, configure: configuration }: Invocation,
  config: Pick<RunnerConfig, "memoryMb">,
  ports: Ports,
): Promise<void> {
  if (configuration === undefined || answerTo === undefined) return;
  const startedAt = ports.clock.now();
  const leftMs = configuration.deadline - startedAt;
  const configured =
    leftMs <= 0 ? undefined : await configure(call, configuration, Math.min(leftMs, configureLimits.timeoutMs), config, ports);
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
  const configured = configuredOf(configuration.call, await withReadableStack(execution, configuration.bundle, ports.stacks));
  if (configured.outcome !== "failed") return configured;
  const mask = new SecretMask(secretsAmong(request.props, configuration.secretProps));
  return { outcome: "failed", error: mask.error(configured.error) };
}

function secretsAmong(props: string, names: readonly string[] = []): readonly unknown[] {
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
    // The bundle is gone, or the props were sealed for other runners: it will be so the next time as well.
    if (!(error instanceof HeadwaterError) || error instanceof Unavailable) throw error;
    return failed(error.code, error.message);
  }
}
