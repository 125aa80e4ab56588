import { useState } from "react";
import { optionOf, type Option, type OptionsRequest, type PropDefinition } from "../api/prop-definition.ts";
import { Button } from "./button.tsx";
import { Field, inputLook } from "./field.tsx";
import type { Options } from "../../client/generated/operations.ts";

const text = {
  load: "Load choices",
  loading: "Loading choices…",
  more: "More choices",
  search: "Search choices",
  choose: "Choose…",
  none: "There are no choices.",
} as const;

interface RemoteOptionsProps {
  readonly prop: PropDefinition;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly error: string | undefined;
  readonly isRequired: boolean;
  readonly readOptions: (request: OptionsRequest) => Promise<Options>;
}

interface Loaded {
  readonly options: readonly Option[];
  readonly page: number;
  /** Null: there is no further page. */
  readonly context: unknown;
}

/** Reads the choices, page by page. */
function useOptions(prop: PropDefinition, readOptions: RemoteOptionsProps["readOptions"], query: string) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [isLoading, setIsLoading] = useState(false);
  const [failure, setFailure] = useState<string>();
  const load = async (page: number, context: unknown, before: readonly Option[]): Promise<void> => {
    setIsLoading(true);
    setFailure(undefined);
    try {
      const found = await readOptions({ prop: prop.name, page, context, query });
      setLoaded({ options: [...before, ...found.options.map(optionOf)], page, context: found.context });
    } catch (thrown) {
      setFailure(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setIsLoading(false);
    }
  };
  return { loaded, isLoading, failure, load };
}

/** Choices that a function of the component returns, page by page. A value can also be typed. */
export function RemoteOptions({ prop, value, onChange, error, isRequired, readOptions }: RemoteOptionsProps) {
  const [query, setQuery] = useState("");
  const isMultiple = prop.type.endsWith("[]");
  const { loaded, isLoading, failure, load } = useOptions(prop, readOptions, query);
  const options = loaded?.options ?? [];
  const indexOf = (each: unknown): number => options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(each));
  const chosen = (isMultiple ? (Array.isArray(value) ? value : []) : [value]).map(indexOf).filter((index) => index >= 0);
  const choose = (indexes: readonly number[]): void => {
    const values = indexes.map((index) => options[index]?.value);
    onChange(isMultiple ? values : values[0]);
  };
  return (
    <Field label={prop.label} hint={prop.description} error={error ?? failure} isRequired={isRequired}>
      {(ids) => (
        <div className="flex min-w-0 flex-col gap-2">
          {options.length > 0 ? (
            <select
              {...ids}
              multiple={isMultiple}
              className={inputLook}
              value={isMultiple ? chosen.map(String) : String(chosen[0] ?? "")}
              onChange={(event) =>
                choose([...event.target.selectedOptions].filter((option) => option.value !== "").map((option) => Number(option.value)))
              }
            >
              {!isMultiple && <option value="">{text.choose}</option>}
              {options.map((option, index) => (
                <option key={index} value={index}>
                  {option.label}
                </option>
              ))}
            </select>
          ) : (
            <input
              {...ids}
              className={inputLook}
              value={typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)}
              onChange={(event) => onChange(event.target.value === "" ? undefined : isMultiple ? [event.target.value] : event.target.value)}
            />
          )}
          <div className="flex min-w-0 flex-wrap gap-2">
            <input
              type="search"
              aria-label={`${text.search}: ${prop.label}`}
              placeholder={text.search}
              className={`${inputLook} max-w-48`}
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
            <Button disabled={isLoading} onClick={() => void load(0, null, [])}>
              {isLoading ? text.loading : text.load}
            </Button>
            {loaded !== undefined && loaded.context !== null && (
              <Button disabled={isLoading} onClick={() => void load(loaded.page + 1, loaded.context, loaded.options)}>
                {text.more}
              </Button>
            )}
          </div>
          {loaded !== undefined && options.length === 0 && <p className="text-xs text-muted">{text.none}</p>}
        </div>
      )}
    </Field>
  );
}
