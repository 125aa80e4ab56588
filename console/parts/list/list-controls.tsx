import { TextLink } from "../button.tsx";
import { Checkbox, inputLook } from "../field.tsx";
import { RangeChoice, type RangeName } from "../metrics/range.tsx";
import { SearchField } from "../search-field.tsx";
import type { ListState } from "./list-state.ts";
import { useStored, writeStored } from "./local-storage.ts";
import { sorts } from "./order.ts";
import { text } from "./strings.ts";
import { ViewsMenu } from "./views-menu.tsx";

const compactKey = "headwater-compact";
const isOn = "1";

/** Whether rows are compact, which the browser remembers for all lists. */
export const useIsCompact = (): boolean => useStored(compactKey) === isOn;

interface ControlsProps {
  readonly state: ListState;
  readonly searchLabel: string;
  /** Range of the metrics in the list. */
  readonly range: RangeName;
}

/** Search, facets, order, time range and saved views of a list. */
export function ListControls({ state, searchLabel, range }: ControlsProps) {
  const { q, facets, sort, search, valueOf, setSearch, setText, onSort } = state;
  const isCompact = useIsCompact();
  return (
    <div role="group" aria-label={text.controls} className="flex min-w-0 flex-wrap items-center gap-2">
      <SearchField label={searchLabel} value={q} onChange={setText} />
      {facets.map((facet) => (
        <Choice
          key={facet.name}
          label={facet.label}
          value={valueOf(facet) ?? ""}
          options={[["", facet.any], ...Object.entries(facet.options)]}
          onChange={(value) => setSearch({ [facet.name]: value })}
        />
      ))}
      <Choice
        label={text.sort}
        value={sort}
        options={sorts.map((each) => [each, text.sorts[each]])}
        onChange={(value) => onSort(sorts.find((each) => each === value) ?? "")}
      />
      <RangeChoice current={range} />
      <Checkbox
        label={text.compact}
        checked={isCompact}
        onChange={({ target }) => writeStored(compactKey, target.checked ? isOn : "")}
        className="min-w-0 text-muted"
      />
      <ViewsMenu state={state} />
      {search !== "" && (
        <TextLink to="." search={{} as never} className="text-sm">
          {text.reset}
        </TextLink>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const look = value === "" ? "" : "border-accent bg-accent-soft";
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)} className={`${inputLook} max-w-44 ${look}`}>
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
