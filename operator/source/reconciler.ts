import { sourceHealth } from "../../crds/source-health.ts";
import { sourceKind, type SourceResource, type SourceSpec, type SourceStatus } from "../../crds/source.ts";
import { HeadwaterError, Conflict, NotFound } from "../../domain/errors.ts";
import { accountsOfSource, hasLiveSecrets } from "../configured/secret-props.ts";
import type { Deployable } from "../deployable/deployable.ts";
import { deployableReconciler, planInputs } from "../deployable/reconciler.ts";
import type { EndConnections } from "../end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { apply } from "./apply.ts";
import { HookRetries } from "./hook-retries.ts";
import { observe } from "./observe/observe.ts";
import type { Observed } from "./observe/observed.ts";
import { plan } from "./plan/plan.ts";
import { blockedBy, useOf } from "./plan/policies.ts";
import { reportBlocked } from "./plan/report.ts";
import type { OwnStep, PlanInputs, Step } from "./plan/step.ts";
import type { Slugs } from "./slugs.ts";

export function sourceReconciler(config: OperatorConfig, ports: OperatorPorts, slugs: Slugs, endConnections?: EndConnections) {
  return deployableReconciler(sourcesOf(config, ports, slugs), config, ports, endConnections);
}

/** A source: one component, hooks, and one version that a failed update returns to. */
function sourcesOf(config: OperatorConfig, ports: OperatorPorts, slugs: Slugs): Deployable<SourceSpec, SourceStatus, Observed, OwnStep> {
  const retries = new HookRetries(ports.clock);
  const inputsFor = (observed: Observed): PlanInputs => ({
    ...planInputs(config, ports),
    nameSlug: slugOf(observed.source, slugs),
    maxDeactivateWaitMs: config.hookTimeoutMs,
    retryHook: retries.isDue(observed),
  });
  return {
    kind: sourceKind,
    idKind: "source",
    entries: ports.deployments,
    calledComponent: "its component",
    references: ({ spec }) => Object.values(spec.secrets),
    accountsOf: accountsOfSource,
    observe: (source, id) => observe(source, id, ports),
    remember: (observed, { reloaded, failure }) => {
      const { source, deployed } = observed;
      // The entry records a failure once the version before it is restored.
      const isRecorded = deployed?.refused?.sourceGeneration === source.metadata.generation;
      return { ...observed, reloaded: reloaded(observed.id), failure: isRecorded ? undefined : failure };
    },
    uses: (observed) => [useOf(observed)],
    blockedBy,
    plan: (observed) => plan(observed, inputsFor(observed)),
    apply: (step, source, id) => apply(step, source, id, ports),
    reportBlocked,
    healthOf: sourceHealth,
    isLive: ({ source, fallback }) =>
      source.spec.codeFrom !== undefined || hasLiveSecrets(source) || (fallback !== undefined && hasLiveSecrets(fallback.version)),
    readsUrl: ({ spec }) => spec.url !== undefined,
    updateOf: ({ source, component }) => `${source.metadata.generation} ${component?.status.build?.bundle}`,
    failsUpdate: (step, error, { fallback }) => fallback !== undefined && stepsOfUpdate.has(step) && isLasting(error),
    retryAfterMs: (observed) => retries.afterMs(observed),
    forget: (source) => retries.forget(source),
  };
}

const slugOf = (source: SourceResource, slugs: Slugs): string =>
  source.metadata.deletionTimestamp === undefined ? slugs.claim(source) : (source.status.nameSlug ?? "");

const stepsOfUpdate: ReadonlySet<string> = new Set<Step["do"]>([
  "write-deployment",
  "write-endpoint",
  "remove-endpoint",
  "set-timer",
  "keep-version",
]);

/** Invalid or oversized input fails again; an unreachable server or a concurrent change may not. */
function isLasting(error: Error): boolean {
  if (!(error instanceof HeadwaterError) || error instanceof Conflict || error instanceof NotFound) return false;
  return error.status < 500 && error.status !== 429;
}
