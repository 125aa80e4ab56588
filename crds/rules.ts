import { z } from "zod";
import { isNpmAddress, npmAddress } from "../domain/component/npm-origin.ts";

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

const port = String.raw`(:([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])?)?`;
const octet = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const h = String.raw`[\da-fA-F]{1,4}`;
/** With at most one `::`. The cost of isIP() cannot be bounded, so it cannot be part of a rule. */
const ipv6 = [
  `(${h}:){7}${h}`,
  `(${h}:){1,7}:`,
  `(${h}:){1,6}:${h}`,
  ...[2, 3, 4, 5].map((after) => `(${h}:){1,${7 - after}}(:${h}){1,${after}}`),
  `${h}:(:${h}){1,6}`,
  `:((:${h}){1,7}|:)`,
].join("|");
const hostIs = (host: string): string => String.raw`^\w+://([^/?#\\]*@)?${host}([:/?]|$)`;

/** Patterns that RE2, which the API server uses, and JavaScript read alike: both sides must accept the same addresses. */
const addressForms = {
  whole: String.raw`^[hH][tT][tT][pP][sS]?://([^/?#\\]*@)?(\[[\da-fA-F:]+\]|[^/?#@:<>^|%\[\]\\]+)${port}([/?]|$)`,
  ipv6Host: hostIs(String.raw`\[(${ipv6})\]`),
  /** Spaces, control and format characters of Unicode; a percent sign without two hexadecimal digits. */
  odd: String.raw`[\p{Z}\p{Cc}\p{Cf}]|%([^\da-fA-F]|[\da-fA-F]([^\da-fA-F]|$)|$)`,
  /** The last label is a number: such a host must be an IPv4 address. */
  numericHost: hostIs(String.raw`([^/?#@:]*\.)?(\d+|0[xX][\da-fA-F]*)\.?`),
  ipv4Host: hostIs(String.raw`${octet}(\.${octet}){3}`),
} as const;

type Form = keyof typeof addressForms;

const celOf = (form: Form): string => `self.matches(r'${addressForms[form]}')`;

const has = (form: Form, text: string): boolean => new RegExp(addressForms[form], "u").test(text);
const aboutAddress = "it must be a URL that begins with http:// or https:// and has a host, such as https://example.com/events";

/** Several rules, because the API server bounds the cost of each. */
const httpRules: readonly Rule<string>[] = [
  {
    cel: `isURL(self) && ${celOf("whole")} && !${celOf("odd")}`,
    // The rules below are those of the API server alone.
    holds: (text) =>
      has("whole", text) &&
      !has("odd", text) &&
      (!has("numericHost", text) || has("ipv4Host", text)) &&
      (!/^[^/]+\/\/[^/]*\[/.test(text) || has("ipv6Host", text)) &&
      URL.canParse(text),
    message: aboutAddress,
  },
  { cel: `!${celOf("numericHost")} || ${celOf("ipv4Host")}`, holds: () => true, message: aboutAddress },
  { cel: `!self.matches('^[^/]+//[^/]*\\\\[') || ${celOf("ipv6Host")}`, holds: () => true, message: aboutAddress },
];

/** An http or https URL with a host name. URLs that Go and browsers parse differently (a fragment as host, a lone %) are refused. */
export const httpUrl = withRules(z.string().max(2_048), ...httpRules);

const isNpm = "self.startsWith('npm:')";

/** Where a component is: an http or https URL, or an address of npm. As many rules as a URL has: the API server bounds their cost. */
export const componentAddress = withRules(
  z.string().max(2_048),
  ...httpRules.map(({ cel, holds, message }, index) => ({
    cel: index === 0 ? `${isNpm} ? self.matches(r'${npmAddress}') : (${cel})` : `${isNpm} || (${cel})`,
    holds: (text: string): boolean => (isNpmAddress(text) ? new RegExp(npmAddress, "u").test(text) : holds(text)),
    message: `${message}, or an address of npm such as npm:<package>@<version>/<file>`,
  })),
);

/** The same without `user:password@`, which belongs in a Secret because resources are readable. */
export const publicUrl = withRules(z.string().max(2_048), ...httpRules, {
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
