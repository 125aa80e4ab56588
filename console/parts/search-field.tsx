import { useEffect, useState } from "react";
import { inputLook } from "./field.tsx";

const delayMs = 200;

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A search field, which `/` focuses. Reports the text when typing pauses. */
export function SearchField({ label, value, onChange }: SearchProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onChange(typed), delayMs);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <input
      type="search"
      data-search
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className={`${inputLook} max-w-72`}
    />
  );
}
