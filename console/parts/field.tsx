import { forwardRef, useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from "react";
import { text } from "./strings.ts";

export const inputLook =
  "w-full min-w-0 rounded-md border border-line bg-surface px-1 py-1.5 min-[12rem]:px-2.5 text-sm text-text placeholder:text-muted aria-invalid:border-bad";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  readonly children: (ids: { readonly id: string; readonly "aria-describedby": string; readonly "aria-invalid": boolean }) => ReactNode;
}

/** A control with its label, hint and error. */
export function Field({ label, hint, error, isRequired = false, children }: FieldProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {isRequired && <span className="font-normal text-muted"> ({text.required})</span>}
      </label>
      {children({ id, "aria-describedby": `${id}-note`, "aria-invalid": error !== undefined })}
      <div id={`${id}-note`} className="text-xs text-muted empty:hidden">
        {hint}
        {error !== undefined && (
          <p role="alert" className="text-bad">
            {error}
          </p>
        )}
      </div>
    </div>
  );
}

interface Labelled {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}

type TextFieldProps = Labelled & InputHTMLAttributes<HTMLInputElement>;

export const TextField = forwardRef<HTMLInputElement, TextFieldProps>(function TextField(
  { label, hint, error, className = "", ...rest },
  ref,
) {
  return (
    <Field label={label} hint={hint} error={error} isRequired={rest.required === true}>
      {(ids) => <input ref={ref} type="text" autoComplete="off" {...rest} {...ids} className={`${inputLook} ${className}`} />}
    </Field>
  );
});

type TextAreaProps = Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>;

export function TextArea({ label, hint, error, className = "", ...rest }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} isRequired={rest.required === true}>
      {(ids) => <textarea rows={4} spellCheck={false} {...rest} {...ids} className={`${inputLook} font-mono ${className}`} />}
    </Field>
  );
}

type SelectProps = Labelled &
  SelectHTMLAttributes<HTMLSelectElement> & { readonly options: readonly (readonly [value: string, label: string])[] };

export function SelectField({ label, hint, error, options, className = "", ...rest }: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...rest} {...ids} className={`${inputLook} ${className}`}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type CheckboxProps = InputHTMLAttributes<HTMLInputElement> & { readonly label: ReactNode };

export function Checkbox({ label, className = "", ...rest }: CheckboxProps) {
  return (
    <label className={`inline-flex min-h-8 items-center gap-2 text-sm ${className}`}>
      <input type="checkbox" {...rest} className="size-4 accent-accent" />
      {label}
    </label>
  );
}
