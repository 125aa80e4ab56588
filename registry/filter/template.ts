import { valueAt } from "../shared/json-path.ts";

/**
 * `{{path}}` in texts stands for what lies there in the event; a text that is nothing but one such place becomes the value itself,
 * whatever its type. Names of fields are filled in as well.
 */
export function fill(template: unknown, event: unknown): unknown {
  if (typeof template === "string") return fillText(template, event);
  if (Array.isArray(template)) return template.map((part) => fill(part, event));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, part]) => [asText(fillText(name, event)), fill(part, event)]));
}

function fillText(text: string, event: unknown): unknown {
  const [, whole] = /^\{\{([^{}]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined) return valueAt(event, whole) ?? null;
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_, path: string) => asText(valueAt(event, path)));
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
