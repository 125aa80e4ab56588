import { Popover } from "@base-ui/react/popover";
import { Bookmark, Pencil, Trash2 } from "lucide-react";
import { useState, type FormEvent } from "react";
import { Button, TextLink } from "../button.tsx";
import { TextField } from "../field.tsx";
import { parseSearch } from "../search.ts";
import { showFailure, showToast } from "../toasts.tsx";
import { ownParams, type ListState } from "./list-state.ts";
import { maxNameLength, maxSearchLength, maxViews, useSavedViews, type SavedView, type SavedViews } from "./saved-views.ts";
import { text } from "./strings.ts";

type Change = SavedViews["change"];

/** Opens, saves, renames and deletes the views of a list. */
export function ViewsMenu({ state }: { readonly state: ListState }) {
  const [isOpen, setIsOpen] = useState(false);
  const { views, change: store } = useSavedViews(state.list);
  const current = views.find(({ search }) => search === state.search);
  const change: Change = (next) => {
    const isStored = store(next);
    if (!isStored) showFailure(text.savedViews, new Error(text.notSaved));
    return isStored;
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger render={<Button className="min-w-0" />}>
        <Bookmark aria-hidden className="size-4 shrink-0" />
        <bdi className="max-w-48 min-w-0 truncate">{current === undefined ? text.views : text.currentView(current.name)}</bdi>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start" collisionPadding={8} positionMethod="fixed" className="z-40">
          <Popover.Popup
            className="flex max-h-[70dvh] w-[min(22rem,calc(100vw-1rem))] flex-col gap-3 overflow-y-auto rounded-lg border border-line bg-raised p-3"
            aria-label={text.savedViews}
          >
            {views.length === 0 && <p className="text-sm text-muted">{text.noViews}</p>}
            <ul aria-label={text.savedViews} className="flex flex-col gap-1 empty:hidden">
              {views.map((view) => (
                <ViewRow
                  key={view.name}
                  view={view}
                  views={views}
                  state={state}
                  isCurrent={view === current}
                  change={change}
                  close={() => setIsOpen(false)}
                />
              ))}
            </ul>
            <SaveForm views={views} search={state.search} change={change} close={() => setIsOpen(false)} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface RowProps {
  readonly view: SavedView;
  readonly views: readonly SavedView[];
  readonly state: ListState;
  readonly isCurrent: boolean;
  readonly change: Change;
  readonly close: () => void;
}

function ViewRow({ view, views, state, isCurrent, change, close }: RowProps) {
  const [isRenaming, setIsRenaming] = useState(false);
  const { name, search } = view;
  const remove = (): void => {
    const isDeleted = change((all) => all.filter((each) => each.name !== name));
    const restore = (): void => void change((all) => [...all.filter((each) => each.name !== name), view]);
    if (isDeleted) showToast(text.deleted(name), restore);
  };
  if (isRenaming) return <RenameForm view={view} views={views} change={change} close={() => setIsRenaming(false)} />;
  return (
    <li className="flex min-w-0 items-center gap-1">
      <TextLink
        to="."
        search={ownParams(state.facets, parseSearch(search)) as never}
        onClick={close}
        aria-current={isCurrent ? "true" : undefined}
        className={`min-w-0 flex-1 truncate rounded px-1 py-1 text-sm ${isCurrent ? "bg-accent-soft font-medium" : ""}`}
      >
        <bdi>{name}</bdi>
      </TextLink>
      <Button kind="quiet" aria-label={text.renameOf(name)} onClick={() => setIsRenaming(true)}>
        <Pencil aria-hidden className="size-4" />
      </Button>
      <Button kind="quiet" aria-label={text.deleteOf(name)} onClick={remove}>
        <Trash2 aria-hidden className="size-4" />
      </Button>
    </li>
  );
}

function RenameForm({ view, views, change, close }: Pick<RowProps, "view" | "views" | "change" | "close">) {
  const [typed, setTyped] = useState(view.name);
  const name = typed.trim();
  const isTaken = name !== view.name && views.some((each) => each.name === name);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name === "" || isTaken) return;
    if (change((all) => all.map((each) => (each.name === view.name ? { ...each, name } : each)))) close();
  };
  return (
    <li>
      <form onSubmit={submit} className="flex flex-col gap-2">
        <TextField
          label={text.newName}
          value={typed}
          maxLength={maxNameLength}
          error={isTaken ? text.nameTaken(name) : undefined}
          onChange={({ target }) => setTyped(target.value)}
          autoFocus
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" disabled={name === "" || isTaken}>
            {text.rename}
          </Button>
          <Button kind="quiet" onClick={close}>
            {text.cancel}
          </Button>
        </div>
      </form>
    </li>
  );
}

interface SaveProps {
  readonly views: readonly SavedView[];
  /** State of the list. */
  readonly search: string;
  readonly change: Change;
  readonly close: () => void;
}

/** Saves the state of the list, under a new name or instead of the view with this name. */
function SaveForm({ views, search, change, close }: SaveProps) {
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  const replaces = views.some((each) => each.name === name);
  const why = whyNotSaved(replaces ? views.length - 1 : views.length, search);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name === "" || why !== undefined) return;
    if (change((all) => [...all.filter((each) => each.name !== name), { name, search }])) close();
  };
  if (search === "") return <p className="text-sm text-muted">{why}</p>;
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <TextField
        label={text.viewName}
        hint={why}
        value={typed}
        maxLength={maxNameLength}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button type="submit" className="self-start" disabled={name === "" || why !== undefined}>
        {replaces ? text.replace : text.save}
      </Button>
    </form>
  );
}

function whyNotSaved(count: number, search: string): string | undefined {
  if (search === "") return text.nothingToSave;
  if (search.length > maxSearchLength) return text.tooLong(maxSearchLength);
  return count >= maxViews ? text.tooMany(maxViews) : undefined;
}
