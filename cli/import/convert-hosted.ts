import { apiVersion } from "../resources/manifest.ts";
import type { Answers } from "./answers.ts";
import type { Task } from "./convert.ts";
import type { HostedProject, HostedSource, HostedSubscription, HostedWebhook } from "./hosted-api.ts";
import { resourceNames } from "./names.ts";
import type { Imported } from "./report.ts";
import { valuesOf, withValues } from "./step-code.ts";

type Fields = Readonly<Record<string, unknown>>;
const file = "moved.yaml";

interface Named {
  readonly kind: "Source" | "Webhook";
  readonly name: string;
}

/** Manifests of sources, webhooks and subscriptions. Sources are switched off: they still run in the service. */
export function convertHosted({ sources, webhooks, subscriptions, code }: HostedProject, answers: Answers): readonly Imported[] {
  const taken = resourceNames([...sources.map(({ name, id }) => name ?? id), ...webhooks.map(({ name, id }) => name ?? id)]);
  const nameAt = (index: number): string => taken[index] ?? "";
  const names = new Map<string, Named>([
    ...sources.map(({ id }, index) => [id, { kind: "Source", name: nameAt(index) }] as const),
    ...webhooks.map(({ id }, index) => [id, { kind: "Webhook", name: nameAt(sources.length + index) }] as const),
  ]);
  const named = (id: string): string => names.get(id)?.name ?? id;
  const subscribed = resourceNames(
    subscriptions.map((each) => `${named(each.emitter_id)} ${named(each.listener_id)} ${each.event_name ?? ""}`),
  );
  return [
    ...sources.map((source) => ofSource(source, named(source.id), code.get(source.component_id), answers)),
    ...webhooks.map((webhook) => ofWebhook(webhook, named(webhook.id))),
    ...subscriptions.map((each, index) => ofSubscription(each, subscribed[index] ?? "", names)),
  ];
}

function ofSource(source: HostedSource, name: string, code: string | undefined, answers: Answers): Imported {
  const { id, component_id: component, active, configured_props: given } = source;
  const tasks: Task[] = [];
  const task = (why: string, how: string): void => void tasks.push({ what: `source ${id}`, why, how, isRequired: true });
  if (code === undefined) task(`the service does not have the code of its component ${component}`, "give the code in the manifest");
  const props = { ...propsOf(given ?? {}), ...answers.props[id] };
  for (const account of new Set(valuesOf("authProvisionId", props)))
    if (answers.accounts[account] === undefined)
      task(
        `it uses the account ${account} of the service`,
        `connect one here (hw accounts connect APP, or hw accounts create APP), and give its id in the answers file: accounts.${account}`,
      );
  if (active !== false)
    tasks.push({
      what: `source ${id}`,
      why: "it is switched off here, so that nothing runs twice",
      how: `switch it off in the service, then hw resume ${name}`,
      isRequired: false,
    });
  const spec = {
    ...(source.name == null ? {} : { name: source.name }),
    ...(code === undefined ? {} : { code }),
    props: withValues("authProvisionId", props, (account) => answers.accounts[account] ?? account),
    active: false,
    // Listeners have the events that it emitted when it was deployed there.
    emitOnDeploy: false,
  };
  return imported({ kind: "Source", name }, id, spec, tasks, code === undefined ? [] : [`source ${id}: its code and values`]);
}

/** What is shown of a prop is not always what it is given as; what is made here is left out. */
function propsOf(given: Fields): Fields {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return [[name, value]];
      const fields = value as Fields;
      const { cron, timezone, interval_seconds: intervalSeconds, ...others } = fields;
      if (typeof fields["endpoint_url"] === "string" || fields["type"] === "$.service.db") return [];
      if (!("interval_seconds" in fields) || Object.keys(others).length > 0) return [[name, value]];
      return [[name, cron ? { cron, ...(timezone ? { timezone } : {}) } : { intervalSeconds }]];
    }),
  );
}

function ofWebhook({ id, url, name: label, description, active }: HostedWebhook, name: string): Imported {
  const spec = {
    url,
    ...(label == null ? {} : { name: label }),
    ...(description == null ? {} : { description }),
    ...(active === false ? { active } : {}),
  };
  const key: Task = {
    what: `webhook ${id}`,
    why: "it gets a signing key of its own here",
    how: `give its receiver the key of hw webhooks show ${name}, beside that of the service`,
    isRequired: false,
  };
  return imported({ kind: "Webhook", name }, id, spec, [key], [`webhook ${id}`]);
}

function ofSubscription(given: HostedSubscription, name: string, names: ReadonlyMap<string, Named>): Imported {
  const { emitter_id: emitter, listener_id: listener, event_name: channel } = given;
  const what = `subscription of ${listener} to ${emitter}`;
  const [from, to] = [names.get(emitter), names.get(listener)];
  const tasks = [emitter, listener]
    .filter((id) => !names.has(id) && id !== "dc_*" && id !== "p_*")
    .map((id): Task => ({ what, why: `${id} is not among what is moved`, how: "name what it is here in the manifest", isRequired: true }));
  const spec = {
    ...(from === undefined ? { emitter } : { emitterRef: from }),
    ...(to === undefined ? { listener } : { listenerRef: to }),
    ...(channel ? { channel } : {}),
  };
  return imported({ kind: "Subscription", name }, what, spec, tasks, tasks.length === 0 ? [what] : []);
}

function imported(
  { kind, name }: { readonly kind: string; readonly name: string },
  origin: string,
  spec: Fields,
  tasks: readonly Task[],
  asIs: readonly string[],
): Imported {
  return { name, origin, file, manifest: { apiVersion, kind, metadata: { name }, spec }, asIs, tasks };
}
