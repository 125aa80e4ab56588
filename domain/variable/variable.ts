/**
 * Variables of an owner, which steps of workflows read as `{{ env.NAME }}` and inline code as `process.env.NAME`. The pattern is that of
 * names in shells and in Node.
 */
export const variableName = {
  pattern: /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  maxLength: 128,
  message: "a variable's name has at most 128 letters, digits and '_', and does not begin with a digit",
} as const;

export const variableLimits = {
  /** Of one owner. */
  count: 100,
  /** UTF-8, of one value. */
  valueBytes: 16 * 1024,
  /** UTF-8, of all names and values of one owner: each run gets them. */
  totalBytes: 64 * 1024,
} as const;

/** Set by Headwater: a variable of this name would have no effect. */
export const systemVariables: readonly string[] = ["PD_COMPONENT", "PIPEDREAM_WORKFLOW_ID"];

/** A value as runners get it. */
export interface VariableValue {
  readonly value: string;
  /** Masked in logs and errors. */
  readonly isSecret: boolean;
}
export type VariableValues = Readonly<Record<string, VariableValue>>;

/**
 * The variables of an owner as runners see them: an entry of DEPLOYMENTS under `deploymentKey(pool, owner)`, written by the operator.
 * Absent: the owner has none.
 */
export interface VariablesEntry {
  readonly variablesOf: string;
  /** Sealed for the pool: JSON of {@link VariableValues}. */
  readonly variables: string;
  /** Sealed for the operator: a digest of the values, to detect changes in their Secrets. */
  readonly variablesSeen: string;
}

export const isVariablesEntry = (entry: object): entry is VariablesEntry => "variablesOf" in entry;

const encoder = new TextEncoder();
export const bytesOfVariable = (name: string, value: string): number => encoder.encode(name).length + encoder.encode(value).length;

const reads = /\bprocess\s*(?:\?\.|\.)\s*env\s*(?:\?\.|\.)\s*([A-Za-z_][A-Za-z0-9_]*)/g;

/** Names that code reads as `process.env.NAME`, each once. A match in a comment counts too: it only leads to a warning. */
export const variablesReadByCode = (code: string): readonly string[] => [
  ...new Set([...code.matchAll(reads)].map(([, name = ""]) => name).filter((name) => !systemVariables.includes(name))),
];

const wholeRead = /^\s*\{\{\s*(?:process\s*\.\s*)?env\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}\s*$/;

/** The name in a text that is exactly `{{ env.NAME }}` or `{{ process.env.NAME }}`; undefined for other texts. */
export const variableReadBy = (text: unknown): string | undefined => (typeof text === "string" ? wholeRead.exec(text)?.[1] : undefined);

export const notSet = (name: string): string => `the variable '${name}' is not set`;
