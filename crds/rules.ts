import { z } from "zod";

/**
 * A rule of a schema: as CEL for the API server (`self` is the value), and as a function for all other validation. `test/crds`
 * applies both to the same objects.
 */
export interface Rule<Value> {
  /** https://kubernetes.io/docs/reference/using-api/cel/ */
  readonly cel: string;
  holds(this: void, value: Value): boolean;
  /** What is wrong and what would be right. */
  readonly message: string;
  /** The invalid field, if it is a single one. */
  readonly field?: string;
}

/** Adds the rules to the schema as refinements, and their CEL to its metadata. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: readonly Rule<z.output<S>>[]): S {
  const checked = schema.superRefine((value, context) => {
    for (const rule of rules.filter(({ holds }) => !holds(value)))
      context.addIssue({ code: "custom", message: rule.message, path: rule.field === undefined ? [] : [rule.field] });
  });
  return checked.meta({ [validations]: rules.map(validationOf) });
}

export const validations = "x-kubernetes-validations";

export function validationOf({ cel, message, field }: Pick<Rule<never>, "cel" | "message" | "field">): Readonly<Record<string, string>> {
  return { rule: cel, message, ...(field === undefined ? {} : { fieldPath: `.${field}` }) };
}

/** Exactly one of the optional fields is set. @param why purpose of the fields, at the end of the message */
export function exactlyOneOf<Value extends object>(fields: readonly (keyof Value & string)[], why: string): Rule<Value> {
  return {
    cel: `[${fields.map((field) => `has(self.${field})`).join(", ")}].filter(given, given).size() == 1`,
    holds: (value) => fields.filter((field) => value[field] !== undefined).length === 1,
    message: `set exactly one of ${fields.slice(0, -1).join(", ")} and ${fields.at(-1)}: ${why}`,
  };
}

/** A string that matches a pattern. `message` replaces the default one, which only repeats the pattern. @param pattern in RE2 syntax */
export function matching(pattern: RegExp, maxLength: number, message: string): z.ZodString {
  const holds = (text: string): boolean => pattern.test(text);
  return withRules(z.string().max(maxLength), { cel: `self.matches(r'${pattern.source}')`, holds, message });
}

/** RFC 3339. */
export const time = matching(
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/,
  40,
  "a time must be in RFC 3339 format, such as 2026-11-21T12:00:00Z",
);

const httpRule: Rule<string> = {
  cel: "isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname() != '' && !self.matches(r'\\s')",
  holds: (text) => /^https?:\/\/[^/?#\s\\]+(?:[/?]|$)/i.test(text) && !/[\s\p{Cc}]|%(?![0-9a-f]{2})/iu.test(text) && URL.canParse(text),
  message: "it must be a URL that begins with http:// or https:// and has a host, such as https://example.com/events",
};

/** An http or https URL with a host name. URLs that Go and browsers parse differently (a fragment as host, a lone %) are refused. */
export const httpUrl = withRules(z.string().max(2_048), httpRule);

/** The same without `user:password@`, which belongs in a Secret because resources are readable. */
export const publicUrl = withRules(z.string().max(2_048), httpRule, {
  cel: "!self.matches('^[a-zA-Z]+://[^/?#]*@')",
  holds: (text) => !/^[a-z]+:\/\/[^/?#]*@/i.test(text),
  message: "it must not contain a user name or password: put user:password in a Secret and refer to it in basicAuth",
});

/** Bounds the length in bytes of UTF-8. */
export function maxBytes(bytes: number, message: string): Rule<string> {
  return {
    cel: `size(bytes(self)) <= ${bytes}`,
    holds: (text) => text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes,
    message,
  };
}

/** A bounded record of values by name. The API server estimates the cost of rules by the bound. */
export function valuesByName<S extends z.ZodType>(value: S, max: number): z.ZodRecord<z.ZodString, S> {
  const bounded = z.record(z.string(), value).refine((values) => Object.keys(values).length <= max, `it must have at most ${max} entries`);
  return bounded.meta({ maxProperties: max });
}

/** A schema with an explicit structural form for the CRD, because none can be derived: any JSON, or a union. */
export function structural<S extends z.ZodType>(schema: S, form: Readonly<Record<string, unknown>>): S {
  return schema.meta({ [structuralForm]: form });
}

export const structuralForm = "structural";
