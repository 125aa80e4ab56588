import { Tabs } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import type { Span } from "../../../client/generated/operations.ts";
import { TextLink } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { formatDuration } from "../../parts/format.ts";
import { Facts } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { TraceLink } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

/** What every span has. */
export function SpanFacts({ span, more = [] }: { readonly span: Span; readonly more?: Parameters<typeof Facts>[0]["facts"] }) {
  const { status, started_at_ms: at, ended_at_ms: end, deployment_id: version, repeats, attempt } = span;
  const id = span.run_id ?? span.delivery_id ?? span.event_id;
  return (
    <Facts
      facts={[
        [text.kind, text.kinds[span.kind]],
        ...(status === undefined ? [] : [[text.status, <State key="status" state={status} label={text.statuses[status]} />] as const]),
        ...(id === undefined ? [] : [["Id", <Id key="id" id={span.kind === "event" ? (span.event_id ?? id) : id} />] as const]),
        ...objectFact(span),
        ...(at === null ? [] : [[text.began, <Time key="began" ms={at} />] as const]),
        ...(at === null || end === null || span.kind === "event" ? [] : [[text.duration, formatDuration(end - at)] as const]),
        ...(attempt === undefined || attempt === 1 ? [] : [[text.attempt, String(attempt)] as const]),
        ...(version === undefined ? [] : [[text.version, <Id key="version" id={version} />] as const]),
        ...(repeats === undefined ? [] : [[text.repeats, <TraceLink key="repeats" id={repeats} />] as const]),
        ...more,
      ]}
    />
  );
}

function objectFact({ source_id: source, workflow_id: workflow, webhook_id: webhook }: Span): readonly (readonly [string, ReactNode])[] {
  if (source !== undefined) return [[text.of.source, <ObjectLink key="of" to="/sources/$id" id={source} />]];
  if (workflow !== undefined) return [[text.of.workflow, <ObjectLink key="of" to="/workflows/$id" id={workflow} />]];
  return webhook === undefined ? [] : [[text.of.webhook, <ObjectLink key="of" to="/webhooks/$id" id={webhook} />]];
}

const ObjectLink = ({ to, id }: { readonly to: string; readonly id: string }) => (
  <TextLink to={to} params={{ id } as never} className="font-mono text-xs">
    {id}
  </TextLink>
);

type Views = readonly (readonly [id: string, label: string, view: ReactNode])[];

/** Views of what a span shows. */
export function InspectorTabs({ views }: { readonly views: Views }) {
  const [first] = views;
  return (
    <Tabs.Root defaultValue={first?.[0]} className="flex min-w-0 flex-col gap-3">
      <Tabs.List aria-label={text.details} className="flex flex-wrap gap-1 border-b border-line">
        {views.map(([id, label]) => (
          <Tabs.Tab
            key={id}
            value={id}
            className="-mb-px border-b-2 border-transparent px-2 py-1.5 text-sm text-muted aria-selected:border-accent aria-selected:font-medium aria-selected:text-text"
          >
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {views.map(([id, , view]) => (
        <Tabs.Panel key={id} value={id} className="flex min-w-0 flex-col gap-3">
          {view}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

export const Hint = ({ children }: { readonly children: ReactNode }) => <p className="text-sm text-muted">{children}</p>;
