import type { FormEvent } from "react";
import { Button } from "../button.tsx";
import { SelectField, TextField } from "../field.tsx";
import { epochMsOf, localTimeOf, type AuditFilter, type AuditFilters, type SetAuditFilters } from "./filters.ts";
import { text } from "./strings.ts";

interface FilterFormProps {
  readonly filters: AuditFilters;
  readonly setFilters: SetAuditFilters;
  /** The list has changes of several owners. */
  readonly hasOwners: boolean;
}

const maxCharacters = 255;

/** The filters take effect, and are in the address, when the form is sent. */
export function FilterForm({ filters, setFilters, hasOwners }: FilterFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setFilters(filtersIn(new FormData(event.currentTarget)));
  };
  const field = (name: AuditFilter, label: string, hint?: string) => (
    <TextField label={label} hint={hint} name={name} maxLength={maxCharacters} defaultValue={filters[name] ?? ""} />
  );
  const time = (name: "since" | "until", label: string) => (
    <TextField label={label} name={name} type="datetime-local" defaultValue={localTimeOf(filters[name])} />
  );
  return (
    // Another address, such as that of a link or of Back, shows its own filters.
    <form key={JSON.stringify(filters)} aria-label={text.filters} onSubmit={submit} className="flex min-w-0 flex-col gap-3">
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-start gap-3">
        {hasOwners && field("owner_id", text.owner, text.ownerHint)}
        {field("actor", text.actor, text.actorHint)}
        {field("action", text.action, text.actionHint)}
        {field("kind", text.kind, text.kindHint)}
        {field("name", text.name)}
        <SelectField label={text.outcome} name="outcome" options={Object.entries(text.outcomes)} defaultValue={filters.outcome ?? ""} />
        {time("since", text.since)}
        {time("until", text.until)}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button type="submit">{text.apply}</Button>
        {Object.keys(filters).length > 0 && (
          <Button kind="quiet" onClick={() => setFilters({})}>
            {text.clear}
          </Button>
        )}
      </div>
    </form>
  );
}

function filtersIn(form: FormData): AuditFilters {
  const valueOf = (name: string): string => {
    const value = form.get(name);
    if (typeof value !== "string") return "";
    return name === "since" || name === "until" ? epochMsOf(value, name === "until") : value.trim();
  };
  return Object.fromEntries([...form.keys()].flatMap((name) => (valueOf(name) === "" ? [] : [[name, valueOf(name)]])));
}
