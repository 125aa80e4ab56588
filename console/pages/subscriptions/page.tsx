import { lazy, Suspense, useEffect, useState } from "react";
import type { Subscription } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { formatCount } from "../../parts/format.ts";
import { EmptyState, Loaded, Loading } from "../../parts/notices.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { AutoSubscriptions } from "./auto-subscriptions.tsx";
import { useNames } from "./names.ts";
import { text } from "./strings.ts";
import { SubscribeForm } from "./subscribe-form.tsx";
import { SubscriptionList } from "./subscription-list.tsx";
import { useUnsubscribe } from "./use-unsubscribe.ts";

const SubscriptionGraph = lazy(() => import("./graph.tsx"));

/** A graph of more is no picture. */
const maxInGraph = 300;
const wide = matchMedia("(min-width: 48rem)");

/** On narrow screens the list comes first. */
function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(wide.matches);
  useEffect(() => {
    const follow = (): void => setIsWide(wide.matches);
    wide.addEventListener("change", follow);
    return () => wide.removeEventListener("change", follow);
  }, []);
  return isWide;
}

export function SubscriptionsPage() {
  const [{ tab = "graph" }] = useSearchParams();
  const isWide = useIsWide();
  return (
    <Page title={text.title}>
      <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
      {tab === "auto" ? (
        <AutoSubscriptions />
      ) : (
        <>
          {tab === "graph" && isWide ? <Graph /> : <SubscriptionList empty={text.empty} emptyHint={text.emptyHint} />}
          <Section title={text.add}>
            <SubscribeForm />
          </Section>
        </>
      )}
    </Page>
  );
}

function Graph() {
  const list = useList("listMySubscriptions", { query: useOwnerQuery() });
  const names = useNames();
  const remove = useUnsubscribe();
  const [chosen, setChosen] = useState<Subscription>();
  const { items, hasMore, readMore, total } = list;
  useEffect(() => {
    if (hasMore && items.length < maxInGraph) readMore();
  }, [hasMore, items.length, readMore]);
  const shown = items.slice(0, maxInGraph);
  return (
    <Loaded isLoading={list.isLoading} error={list.error} retry={list.reload}>
      {shown.length === 0 ? (
        <EmptyState title={text.empty}>
          <p className="text-sm text-muted">{text.emptyHint}</p>
        </EmptyState>
      ) : (
        <>
          <p className="text-sm text-muted">
            {total !== undefined && total > shown.length && text.truncated(formatCount(shown.length), formatCount(total))} {text.graphHint}
          </p>
          <Suspense fallback={<Loading />}>
            <SubscriptionGraph subscriptions={shown} names={names} onChoose={setChosen} />
          </Suspense>
          {chosen !== undefined && (
            <RemoveDialog
              subscription={chosen}
              names={names}
              onRemove={() => {
                remove(chosen);
                setChosen(undefined);
              }}
              onClose={() => setChosen(undefined)}
            />
          )}
        </>
      )}
    </Loaded>
  );
}

interface RemoveDialogProps {
  readonly subscription: Subscription;
  readonly names: ReadonlyMap<string, string>;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

/** An edge is easily hit by mistake, so a click on it only asks. */
function RemoveDialog({ subscription, names, onRemove, onClose }: RemoveDialogProps) {
  const { emitter_id: emitter, listener_id: listener, event_name: channel } = subscription;
  const nameOf = (id: string | null): string => (id === null ? "" : (names.get(id) ?? id));
  return (
    <Dialog title={text.removeTitle} isOpen onClose={onClose}>
      <p className="text-sm">
        <bdi>{nameOf(emitter)}</bdi> → <bdi>{nameOf(listener)}</bdi>, {text.channel}: <bdi>{channel || text.defaultChannel}</bdi>
      </p>
      <p className="text-sm">{text.removeHint}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{text.keep}</Button>
        <Button kind="danger" onClick={onRemove}>
          {text.remove}
        </Button>
      </div>
    </Dialog>
  );
}
