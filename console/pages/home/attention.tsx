import { useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, useList, useMatching, useRead } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { TextLink } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { HealthState, type Healthy } from "../../parts/health.tsx";
import { Section } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const refreshMs = 15_000;
/** Webhooks whose dead letters are counted; each takes a request. */
const maxCounted = 10;

const isUnwell = ({ state }: { readonly state: string }): boolean => ["degraded", "failing", "circuit_open", "disabled"].includes(state);

/** Every source, workflow and webhook that does not work, dead letters, and a quota that is used up. @param hidesEmpty shows nothing if all is well */
export function Attention({ hidesEmpty = false }: { readonly hidesEmpty?: boolean }) {
  const owner = useOwnerQuery();
  const failing = useList("listMySources", { query: { ...owner, state: "failing" } }, { everyMs: refreshMs });
  const disabled = useList("listMySources", { query: { ...owner, state: "disabled" } }, { everyMs: refreshMs });
  const webhooks = useList("listMyWebhooks", { query: owner }, { everyMs: refreshMs });
  const workflows = useMatching(useList("listMyWorkflows", { query: owner }, { everyMs: refreshMs }), isUnwell);
  const unwell = useMatching(webhooks, isUnwell);
  const dead = useDeadLetters(webhooks.items.slice(0, maxCounted).map(({ id }) => id));
  const me = useRead("getMe", {});
  const until = me.data?.data.quota_exceeded_until;
  const items: ReactNode[] = [
    ...(until === undefined
      ? []
      : [<Item key="quota" state={<State state="failed" />} label={text.quota} note={<Time ms={until * 1_000} />} />]),
    ...[...failing.items, ...disabled.items].map((source) => (
      <Unwell key={source.id} item={source} page="/sources/$id" name={source.name} action={errorsAction} />
    )),
    ...workflows.items.map((workflow) => (
      <Unwell key={workflow.id} item={workflow} page="/workflows/$id" name={workflow.name} action={errorsAction} />
    )),
    ...unwell.items.map((webhook) => (
      <Unwell
        key={webhook.id}
        item={webhook}
        page="/webhooks/$id"
        name={webhook.name ?? webhook.url}
        action={{ label: text.seeAttempts, search: {} }}
        disabledAs={text.disabled}
      />
    )),
    ...webhooks.items.flatMap(({ id, name, url }) => {
      const count = dead.get(id) ?? 0;
      const target = { tab: "dead" };
      return count === 0
        ? []
        : [
            <Item
              key={`${id} dead`}
              state={<State state="dead" />}
              label={link("/webhooks/$id", id, name ?? url, target)}
              note={text.deadLetters(formatCount(count))}
              action={<ActionLink page="/webhooks/$id" id={id} name={name ?? url} action={{ label: text.deliverAgain, search: target }} />}
            />,
          ];
    }),
  ];
  if (hidesEmpty && items.length === 0) return null;
  return (
    <Section title={text.attention}>
      {items.length === 0 ? <p className="text-sm text-muted">{text.nothing}</p> : <ul className="flex flex-col gap-2">{items}</ul>}
    </Section>
  );
}

/** Number of dead letters by webhook. */
function useDeadLetters(webhooks: readonly string[]): ReadonlyMap<string, number> {
  const counts = useQueries({
    queries: webhooks.map((id) => ({
      queryKey: ["listDeadLetters", id, "count"],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (await api.call("listDeadLetters", { path: { id }, query: { limit: 1 } }, { signal })).page_info.total_count,
      staleTime: refreshMs,
    })),
  });
  return new Map(webhooks.map((id, index) => [id, counts[index]?.data ?? 0]));
}

const link = (to: string, id: string, name: string, search: object = {}): ReactNode => (
  <TextLink to={to} params={{ id } as never} search={search as never} className="min-w-0">
    <bdi>{name}</bdi>
  </TextLink>
);

/** What leads to the cause. */
interface Action {
  readonly label: string;
  readonly search: object;
}

const errorsAction: Action = { label: text.seeErrors, search: { tab: "errors" } };

interface UnwellProps {
  readonly item: Healthy & { readonly id: string };
  readonly page: string;
  readonly name: string;
  readonly action: Action;
  /** Begins the note of a disabled one. */
  readonly disabledAs?: string;
}

/** Its problem says how many failed, and why. */
function Unwell({ item, page, name, action, disabledAs }: UnwellProps) {
  const { id, state, problem } = item;
  const prefix = state === "disabled" && disabledAs !== undefined ? `${disabledAs}: ` : "";
  return (
    <Item
      state={<HealthState item={item} />}
      label={link(page, id, name)}
      note={`${prefix}${problem?.message ?? ""}`}
      at={problem?.since}
      action={<ActionLink page={page} id={id} name={name} action={action} />}
    />
  );
}

function ActionLink({
  page,
  id,
  name,
  action: { label, search },
}: {
  readonly page: string;
  readonly id: string;
  readonly name: string;
  readonly action: Action;
}) {
  return (
    <TextLink to={page} params={{ id } as never} search={search as never} aria-label={text.actionOf(label, name)} className="ml-auto">
      {label}
    </TextLink>
  );
}

interface ItemProps {
  readonly state: ReactNode;
  readonly label: ReactNode;
  readonly note: ReactNode;
  /** Epoch seconds. */
  readonly at?: number | undefined;
  readonly action?: ReactNode;
}

function Item({ state, label, note, at, action }: ItemProps) {
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      {state}
      {label}
      <span className="min-w-0 text-muted">{note}</span>
      {at !== undefined && (
        <span className="text-muted">
          {text.since} <Time ms={at * 1_000} />
        </span>
      )}
      {action}
    </li>
  );
}
