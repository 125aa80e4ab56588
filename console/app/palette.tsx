import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useState, type KeyboardEvent } from "react";
import { useList } from "../api/queries.ts";
import { Dialog } from "../parts/dialog.tsx";
import { inputLook } from "../parts/field.tsx";
import { navigation } from "./routes.ts";
import { useOwnerQuery } from "../parts/session-context.tsx";
import { text } from "./strings.ts";

interface Choice {
  readonly to: string;
  readonly label: string;
  readonly note: string;
}

const maxSources = 10;

/** The command palette: goes to a page, or to a source by its name. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [selected, setSelected] = useState(0);
  const navigate = useNavigate();
  const search = useDeferredValue(typed.trim());
  const owner = useOwnerQuery();
  const sources = useList("listMySources", { query: { ...owner, q: search } }, { enabled: search !== "", pageItems: maxSources });
  const pages = [...navigation, ["/sources/new", "New source"] as const, ["/profile", "Profile"] as const]
    .filter(([, name]) => name.toLowerCase().includes(search.toLowerCase()))
    .map(([to, label]): Choice => ({ to, label, note: "" }));
  const found =
    search === "" ? [] : sources.items.map(({ id, name, name_slug }): Choice => ({ to: `/sources/${id}`, label: name, note: name_slug }));
  const choices = [...pages, ...found];
  const current = Math.min(selected, choices.length - 1);
  const open = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    void navigate({ to: choice.to }); // Cannot fail.
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setSelected(Math.min(current + 1, choices.length - 1));
    else if (event.key === "ArrowUp") setSelected(Math.max(current - 1, 0));
    else if (event.key === "Enter") open(choices[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={text.palette} isOpen onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls="palette-choices"
        aria-activedescendant={choices.length === 0 ? undefined : `palette-${current}`}
        aria-label={text.paletteHint}
        placeholder={text.paletteHint}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setSelected(0);
        }}
        onKeyDown={onKey}
        className={inputLook}
      />
      <ul id="palette-choices" role="listbox" aria-label={text.palette} className="flex max-h-80 flex-col overflow-y-auto">
        {choices.map((choice, index) => (
          <li
            key={choice.to}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => open(choice)}
            className={`flex cursor-pointer gap-2 rounded px-2 py-1.5 text-sm ${index === current ? "bg-accent-soft" : ""}`}
          >
            <span className="min-w-0 truncate">{choice.label}</span>
            <span className="ml-auto min-w-0 truncate text-muted">{choice.note}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p className="text-sm text-muted">{text.noMatch}</p>}
    </Dialog>
  );
}
