import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "../button.tsx";
import { ConfirmByName } from "../dialog.tsx";
import { formatCount } from "../format.ts";
import { showFailure, showToast } from "../toasts.tsx";
import { runAll } from "./run-all.ts";
import { text } from "./strings.ts";
import type { Selection } from "./use-selection.ts";

export interface BulkAction<Item> {
  readonly label: string;
  /** Says to how many it was done. */
  readonly done: (count: string) => string;
  /** Items to which it would do nothing are left out. */
  readonly applies: (item: Item) => boolean;
  readonly perform: (item: Item) => Promise<unknown>;
  /** Takes it back. Absent: it cannot be taken back, and the person confirms it unless it loses nothing. */
  readonly undo?: (item: Item) => Promise<unknown>;
  /** Default: false. */
  readonly losesNothing?: boolean;
}

interface BulkActionsProps<Item> {
  readonly selection: Selection<Item>;
  readonly actions: readonly BulkAction<Item>[];
  readonly nameOf: (item: Item) => string;
  /** Says what will be lost; needed for an action that is confirmed. */
  readonly warning?: string;
}

const isConfirmed = <Item,>({ undo, losesNothing = false }: BulkAction<Item>): boolean => undo === undefined && !losesNothing;

interface Running {
  readonly label: string;
  readonly count: number;
  readonly of: number;
}

/** Names of failed items in a message. */
const maxNamed = 10;

/** What can be done to the selected items, how far it is, and how it went. */
export function BulkActions<Item>({ selection, actions, nameOf, warning }: BulkActionsProps<Item>) {
  const [confirming, setConfirming] = useState<BulkAction<Item>>();
  const { running, run, stop } = useBulk(nameOf, selection.clear);
  const { items } = selection;
  if (running !== undefined) return <Progress {...running} onStop={stop} />;
  if (items.length === 0) return null;
  const phrase = text.confirm(formatCount(items.length));
  return (
    <div role="toolbar" aria-label={text.selected(formatCount(items.length))} className="flex flex-wrap items-center gap-2 text-sm">
      <span role="status">{text.selected(formatCount(items.length))}</span>
      {actions.map((action) => {
        const affected = items.filter(action.applies);
        return (
          <Button
            key={action.label}
            kind={isConfirmed(action) ? "danger" : "plain"}
            disabled={affected.length === 0}
            onClick={() => (isConfirmed(action) ? setConfirming(action) : run(action, affected))}
          >
            {action.label}
          </Button>
        );
      })}
      <Button kind="quiet" onClick={selection.clear}>
        {text.clear}
      </Button>
      <ConfirmByName
        title={confirming?.label ?? ""}
        name={phrase}
        action={confirming?.label ?? ""}
        isOpen={confirming !== undefined}
        isPending={false}
        error={null}
        onConfirm={() => {
          if (confirming !== undefined) run(confirming, items.filter(confirming.applies));
          setConfirming(undefined);
        }}
        onClose={() => setConfirming(undefined)}
      >
        {warning}
      </ConfirmByName>
    </div>
  );
}

function Progress({ label, count, of, onStop }: Running & { readonly onStop: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <progress aria-label={label} value={count} max={of} className="accent-accent" />
      <span role="status">{text.progress(label, formatCount(count), formatCount(of))}</span>
      <Button kind="quiet" onClick={onStop}>
        {text.stop}
      </Button>
    </div>
  );
}

/** @param onEnd called when an action has ended, so that its items are not selected any more */
function useBulk<Item>(nameOf: (item: Item) => string, onEnd: () => void) {
  const client = useQueryClient();
  const [running, setRunning] = useState<Running>();
  const ending = useRef<AbortController>(undefined);
  /** The action in progress: an undo may be asked for while another one goes on. */
  const before = useRef<Promise<void>>(Promise.resolve());
  // What has not begun must not begin behind the back of a person who has left the page.
  useEffect(() => () => ending.current?.abort(), []);
  const perform = async (
    action: BulkAction<Item>,
    items: readonly Item[],
    act: BulkAction<Item>["perform"],
    isUndo: boolean,
  ): Promise<void> => {
    const abort = new AbortController();
    ending.current = abort;
    const show = (count: number): void => setRunning({ label: isUndo ? text.undoing : action.label, count, of: items.length });
    show(0);
    const { done, failed } = await runAll(items, act, show, abort.signal);
    setRunning(undefined);
    if (!isUndo) onEnd();
    await client.invalidateQueries();
    const { undo } = action;
    if (done.length > 0 && !isUndo) showToast(action.done(formatCount(done.length)), undo && (() => start(action, done, undo, true)));
    if (failed.length > 0) showFailure(text.failed(formatCount(failed.length)), summaryOf(failed, nameOf));
  };
  const start = (...args: Parameters<typeof perform>): void => {
    before.current = before.current.then(() => perform(...args)); // Never rejects.
  };
  return {
    running,
    run: (action: BulkAction<Item>, items: readonly Item[]) => start(action, items, action.perform, false),
    stop: () => ending.current?.abort(),
  };
}

function summaryOf<Item>(failed: readonly { readonly item: Item; readonly error: Error }[], nameOf: (item: Item) => string): Error {
  const lines = failed.slice(0, maxNamed).map(({ item, error }) => `${nameOf(item)}: ${error.message}`);
  const more = failed.length - lines.length;
  return new Error([...lines, ...(more > 0 ? [text.more(formatCount(more))] : [])].join("\n"));
}
