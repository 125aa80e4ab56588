import { useState, type ReactNode } from "react";
import type { Options, Prop } from "../../client/generated/operations.ts";
import { AccountField } from "./accounts/account-field.tsx";
import { Checkbox, Field, inputLook, SelectField, TextArea, TextField } from "./field.tsx";
import { needsValue, propDefinitions, type Option, type OptionsRequest, type PropDefinition } from "../api/prop-definition.ts";
import { RemoteOptions } from "./remote-options.tsx";

export type PropValues = Readonly<Record<string, unknown>>;

interface PropsFormProps {
  readonly props: readonly Prop[];
  readonly values: PropValues;
  readonly onChange: (values: PropValues) => void;
  /** Called after a change of a prop with `reloadProps`. */
  readonly onReload: (values: PropValues) => void;
  readonly errors: Readonly<Record<string, string>>;
  readonly readOptions: (request: OptionsRequest) => Promise<Options>;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly app: string }[];
  /** Secret props that have a stored value, which is never shown. */
  readonly storedSecrets?: ReadonlySet<string>;
}

const text = {
  interval: "Every (seconds)",
  cron: "Cron expression",
  schedule: "Schedule",
  byInterval: "At an interval",
  byCron: "By a cron expression",
  endpoint: "The source gets an address of its own when it is deployed.",
  file: "A path below /tmp of the run, such as /tmp/report.pdf, or a URL.",
  lines: "One value in each line.",
  json: "JSON",
  kept: "A value is stored. Leave this empty to keep it.",
  choose: "Choose…",
  invalidJson: "This is not JSON",
} as const;

/** A form for the props of a component, made from their definitions. */
export function PropsForm({ props, values, onChange, onReload, ...context }: PropsFormProps) {
  const set = (prop: PropDefinition) => (value: unknown) => {
    const next = { ...values, [prop.name]: value };
    if (value === undefined) delete (next as Record<string, unknown>)[prop.name];
    onChange(next);
    if (prop.reloadsProps) onReload(next);
  };
  return (
    <div className="flex flex-col gap-4">
      {propDefinitions(props).map((prop) => (
        <PropField key={prop.name} prop={prop} value={values[prop.name] ?? prop.default} onChange={set(prop)} {...context} />
      ))}
    </div>
  );
}

interface PropFieldProps extends Omit<PropsFormProps, "props" | "values" | "onChange" | "onReload"> {
  readonly prop: PropDefinition;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function PropField({ prop, value, onChange, errors, readOptions, accounts, storedSecrets }: PropFieldProps): ReactNode {
  const { name, type, label, description, isSecret, options, hasRemoteOptions } = prop;
  const common = { label, hint: hintOf(prop), error: errors[name], required: needsValue(prop) };
  if (type === "alert") return <p className="rounded-md bg-accent-soft p-3 text-sm whitespace-pre-wrap">{prop.content}</p>;
  if (type === "$.interface.timer") return <TimerField label={label} value={value} onChange={onChange} />;
  if (type.startsWith("$."))
    return (
      <p className="text-sm">
        <span className="font-medium">{label}</span> <span className="text-muted">{description ?? text.endpoint}</span>
      </p>
    );
  if (type === "app") return <AccountField prop={prop} value={value} onChange={onChange} accounts={accounts} error={errors[name]} />;
  if (hasRemoteOptions)
    return (
      <RemoteOptions
        prop={prop}
        value={value}
        onChange={onChange}
        error={errors[name]}
        readOptions={readOptions}
        isRequired={common.required}
      />
    );
  if (type === "boolean") return <Checkbox label={label} checked={value === true} onChange={(event) => onChange(event.target.checked)} />;
  if (options.length > 0 && !type.endsWith("[]")) return <ChoiceField {...common} options={options} value={value} onChange={onChange} />;
  if (type === "integer" || type === "number")
    return (
      <TextField
        {...common}
        type="number"
        value={typeof value === "number" ? value : ""}
        onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
      />
    );
  if (type.endsWith("[]") && type !== "object[]")
    return (
      <TextArea
        {...common}
        hint={
          <>
            {common.hint} {text.lines}
          </>
        }
        value={Array.isArray(value) ? value.join("\n") : ""}
        onChange={(event) => onChange(listOf(event.target.value, type))}
      />
    );
  if (type === "object" || type === "any" || type === "object[]") return <JsonField {...common} value={value} onChange={onChange} />;
  const isStored = isSecret && storedSecrets?.has(name) === true;
  return (
    <TextField
      {...common}
      required={common.required && !isStored}
      type={isSecret ? "password" : "text"}
      hint={isStored ? text.kept : common.hint}
      autoComplete={isSecret ? "new-password" : "off"}
      value={typeof value === "string" ? value : ""}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
    />
  );
}

const hintOf = ({ type, description }: PropDefinition): string | undefined =>
  type === "file" || type === "file[]" ? [description, text.file].filter((each) => each !== undefined).join(" ") : description;

interface ChoiceProps extends Pick<PropFieldProps, "value" | "onChange"> {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | undefined;
  readonly required: boolean;
  readonly options: readonly Option[];
}

/** One of the options that the component names. */
function ChoiceField({ options, value, onChange, ...field }: ChoiceProps) {
  const choices = options.map((option, index) => [String(index), option.label] as const);
  const selected = options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(value));
  return (
    <SelectField
      {...field}
      options={[["", text.choose], ...choices]}
      value={selected < 0 ? "" : String(selected)}
      onChange={(event) => onChange(event.target.value === "" ? undefined : options[Number(event.target.value)]?.value)}
    />
  );
}

function listOf(lines: string, type: string): readonly unknown[] | undefined {
  if (lines === "") return undefined;
  return lines.split("\n").map((line) => (type === "integer[]" ? Number(line) : line));
}

function JsonField({
  value,
  onChange,
  ...field
}: {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | undefined;
  readonly required: boolean;
}) {
  const [typed, setTyped] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [isInvalid, setIsInvalid] = useState(false);
  const change = (next: string): void => {
    setTyped(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next));
      setIsInvalid(false);
    } catch {
      setIsInvalid(true);
    }
  };
  return (
    <TextArea
      {...field}
      error={isInvalid ? text.invalidJson : field.error}
      hint={field.hint ?? text.json}
      value={typed}
      onChange={(event) => change(event.target.value)}
    />
  );
}

interface Schedule {
  readonly cron?: string | null;
  readonly interval_seconds?: number | null;
  readonly intervalSeconds?: number | null;
}

/** A timer ticks at an interval, or by a cron expression. */
function TimerField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const {
    cron,
    interval_seconds: stored,
    intervalSeconds = stored,
  } = (typeof value === "object" && value !== null ? value : {}) as Schedule;
  const isCron = typeof cron === "string";
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="text-sm font-medium">{label}</legend>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,10rem),1fr))] gap-2">
        <SelectField
          label={text.schedule}
          options={[
            ["interval", text.byInterval],
            ["cron", text.byCron],
          ]}
          value={isCron ? "cron" : "interval"}
          onChange={(event) => onChange(event.target.value === "cron" ? { cron: "0 * * * *" } : { intervalSeconds: 60 })}
        />
        <Field label={isCron ? text.cron : text.interval}>
          {(ids) =>
            isCron ? (
              <input {...ids} className={inputLook} value={cron} onChange={(event) => onChange({ cron: event.target.value })} />
            ) : (
              <input
                {...ids}
                className={inputLook}
                type="number"
                min={1}
                value={intervalSeconds ?? ""}
                onChange={(event) => onChange({ intervalSeconds: Number(event.target.value) })}
              />
            )
          }
        </Field>
      </div>
    </fieldset>
  );
}
