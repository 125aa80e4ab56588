import type { Operations } from "../../client/generated/operations.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present, recordOf } from "../values.ts";
import { withStoreIds } from "./data-stores.ts";
import type { Manifest, Spec } from "./manifest.ts";
import { codeBody, codeOf, configuredProps, normalCode, propsOf } from "./props.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

const listOf = (value: unknown, what: string): Spec[] => (Array.isArray(value) ? value.map((each) => recordOf(each, what)) : []);

async function triggerBody(session: Session, { source, sourceRef, http, timer, email }: Spec): Promise<Spec> {
  if (sourceRef !== undefined)
    return { type: "source", source_id: await session.idOf("Source", String(recordOf(sourceRef, "sourceRef")["name"])) };
  if (source !== undefined) return { type: "source", source_id: source };
  if (http !== undefined) return present({ type: "http", custom_response: recordOf(http, "http")["customResponse"] });
  if (email !== undefined) return { type: "email" };
  const { cron, intervalSeconds, timezone, jitterSeconds, overlap, catchUp } = recordOf(timer ?? {}, "timer");
  const options = { jitter_seconds: jitterSeconds, overlap, catch_up: catchUp };
  return present({ type: "timer", cron, interval_seconds: intervalSeconds, timezone, ...options });
}

async function stepBody(session: Session, step: Spec): Promise<Spec> {
  const { name, continueOnError, retries, timeoutSeconds } = step;
  const props = await configuredProps(session, step, `step ${String(name)}`);
  const timeout = typeof timeoutSeconds === "number" ? timeoutSeconds * 1_000 : undefined;
  return {
    ...(await codeBody(session, step, `step ${String(name)}`)),
    ...present({ name, props, continue_on_error: continueOnError, retries, timeout_ms: timeout }),
  };
}

async function bodyOf(session: Session, { name, spec }: Manifest): Promise<Record<string, unknown>> {
  const { concurrency, throttle, queueSize, ordered, errorMails } = recordOf(spec["settings"] ?? {}, "settings");
  const limit = throttle === undefined ? undefined : recordOf(throttle, "throttle");
  const rate = limit === undefined ? undefined : { runs: limit["runs"], interval_seconds: limit["intervalSeconds"] };
  return {
    ...present({ name: spec["name"] ?? name, active: spec["active"] }),
    triggers: await Promise.all(listOf(spec["triggers"], "a trigger").map((trigger) => triggerBody(session, trigger))),
    steps: await Promise.all(listOf(spec["steps"], "a step").map((step) => stepBody(session, step))),
    settings: present({ concurrency, throttle: rate, queue_size: queueSize, ordered, error_mails: errorMails }),
  };
}

/** `component_key` is in the answer for components of the registry and for keyed ones. */
async function stepOf(session: Session, step: Spec): Promise<Spec> {
  const timeout = step["timeout_ms"];
  return present({
    name: step["name"],
    ...(await codeOf(session, step["component_id"], step["component_key"])),
    props: propsOf(step["props"]),
    continueOnError: step["continue_on_error"] === true ? true : undefined,
    retries: step["retries"] === 0 ? undefined : step["retries"],
    timeoutSeconds: typeof timeout === "number" ? timeout / 1_000 : undefined,
  });
}

function triggerOf({
  type,
  source_id: source,
  custom_response: customResponse,
  cron,
  interval_seconds: intervalSeconds,
  timezone,
  jitter_seconds: jitterSeconds,
  overlap,
  catch_up: catchUp,
}: Spec): Spec {
  if (type === "source") return { source };
  if (type === "email") return { email: {} };
  if (type === "http") return { http: present({ customResponse }) };
  return { timer: present({ cron, intervalSeconds, timezone, jitterSeconds, overlap, catchUp }) };
}

function settingsOf(value: unknown): Spec | undefined {
  const { concurrency, throttle, queue_size: queueSize, ordered, error_mails: errorMails } = recordOf(value ?? {}, "settings");
  const limit = throttle === null || throttle === undefined ? undefined : recordOf(throttle, "throttle");
  const settings = present({
    concurrency: concurrency ?? undefined,
    throttle: limit === undefined ? undefined : { runs: limit["runs"], intervalSeconds: limit["interval_seconds"] },
    queueSize: queueSize ?? undefined,
    ordered: ordered === true ? true : undefined,
    errorMails: errorMails === false ? false : undefined,
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

export const workflowResource: ResourceKind = {
  name: "Workflow",
  listed: kindNamed("workflows"),
  specOf: async (session, item) =>
    present({
      name: item["name"],
      active: item["active"],
      triggers: listOf(item["triggers"], "a trigger").map(triggerOf),
      steps: await Promise.all(listOf(item["steps"], "a step").map((step) => stepOf(session, step))),
      settings: settingsOf(item["settings"]),
    }),
  normalize: async (session, spec) =>
    present({
      name: spec["name"],
      active: spec["active"],
      settings: spec["settings"],
      triggers: await Promise.all(
        listOf(spec["triggers"], "a trigger").map(async (trigger) => triggerOf(await triggerBody(session, trigger))),
      ),
      steps: await Promise.all(
        listOf(spec["steps"], "a step").map(async ({ name, props = {}, secrets, continueOnError, retries, timeoutSeconds, ...code }) =>
          present({
            name,
            ...(await normalCode(session, code, `step ${String(name)}`)),
            props: await withStoreIds(session, props, `step ${String(name)}`),
            secrets,
            continueOnError,
            retries,
            timeoutSeconds,
          }),
        ),
      ),
    }),
  create: async (session, manifest) => {
    const body = (await bodyOf(session, manifest)) as Operations["createWorkflow"]["body"]; // The API checks it.
    return session.client.call("createWorkflow", { body });
  },
  update: async (session, id, manifest) => {
    const body = (await bodyOf(session, manifest)) as Operations["updateWorkflow"]["body"]; // The API checks it.
    return session.client.call("updateWorkflow", { path: { workflow_id: id }, body });
  },
};
