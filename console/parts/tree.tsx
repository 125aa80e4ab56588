import { clip } from "./format.ts";
import { text } from "./strings.ts";

const maxEntries = 200;
const maxTextLength = 10_000;
const openDepth = 2;

/** A JSON value as a tree that can be opened and closed. Of large values, only the beginning is shown. */
export function Tree({ value, name, depth = 0 }: { readonly value: unknown; readonly name?: string; readonly depth?: number }) {
  const label = name === undefined ? null : <span className="text-muted">{clip(name, 200)}: </span>;
  if (typeof value !== "object" || value === null)
    return (
      <div className="font-mono text-xs whitespace-pre-wrap">
        {label}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const brackets = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div className="font-mono text-xs">
        {label}
        {Array.isArray(value) ? "[]" : "{}"}
      </div>
    );
  return (
    <details open={depth < openDepth} className="font-mono text-xs">
      <summary className="w-fit rounded hover:bg-accent-soft">
        {label}
        <span className="text-muted">{brackets}</span>
      </summary>
      <div className="border-l border-line pl-3">
        {entries.slice(0, maxEntries).map(([key, child]) => (
          <Tree key={key} name={key} value={child} depth={depth + 1} />
        ))}
        {entries.length > maxEntries && <p className="text-muted">{text.truncated}</p>}
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== "string") return <span className="text-accent">{String(value)}</span>;
  return (
    <bdi>
      {JSON.stringify(clip(value, maxTextLength))}
      {value.length > maxTextLength && <span className="text-muted"> {text.truncated}</span>}
    </bdi>
  );
}
