import { type Fields, isObject } from "../component/component.ts";
import { fileMisfit } from "./file-value.ts";

/** What a value must be, in words, or undefined if it is valid: the rules of domain/component/prop-types.ts, for values of expressions. */
type Check = (value: unknown, prop: Fields) => string | undefined;

const checks: Readonly<Record<string, Check>> = {
  string: (value, prop) => (typeof value === "string" || (typeof value === "number" && hasOptions(prop)) ? undefined : "a string"),
  boolean: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  integer: checkInteger,
  object: (value) => (isObject(value) && !Array.isArray(value) ? undefined : "an object"),
  file: fileMisfit,
};

/** Undefined if the value fits the prop's type. No value fits a prop that may be absent. */
export function misfitOf(value: unknown, prop: Fields): string | undefined {
  const type = String(prop["type"]);
  const isList = type.endsWith("[]");
  const check = Object.hasOwn(checks, type.replace("[]", "")) ? checks[type.replace("[]", "")] : undefined;
  if (check === undefined && !isList) return undefined;
  if (value === undefined || value === null)
    return mayBeAbsent(prop) ? undefined : `${isList ? "an array" : wanted(check, prop)}, since the prop is not optional`;
  if (!isList) return check?.(plain(value, prop), prop);
  if (!Array.isArray(value)) return `an array (${type})`;
  const misfit = value.map((item: unknown) => check?.(plain(item, prop), prop)).find((each) => each !== undefined);
  return misfit === undefined ? undefined : `an array (${type}) in which each element is ${misfit}`;
}

const wanted = (check: Check | undefined, prop: Fields): string => check?.(undefined, prop) ?? "a value";
const mayBeAbsent = (prop: Fields): boolean =>
  prop["optional"] === true || prop["hidden"] === true || prop["disabled"] === true || (prop["default"] ?? undefined) !== undefined;
const hasOptions = ({ options }: Fields): boolean => options !== undefined && options !== null;

/** The value of `{label, value}`, which a prop with `withLabel` has. */
const plain = (value: unknown, prop: Fields): unknown =>
  prop["withLabel"] === true && isObject(value) && "value" in value ? value["value"] : value;

function checkInteger(value: unknown, { min, max }: Fields): string | undefined {
  const fits = (typeof min !== "number" || Number(value) >= min) && (typeof max !== "number" || Number(value) <= max);
  if (Number.isSafeInteger(value) && fits) return undefined;
  const bounds = [typeof min === "number" ? `at least ${min}` : "", typeof max === "number" ? `at most ${max}` : ""].filter(
    (bound) => bound !== "",
  );
  return bounds.length === 0 ? "an integer" : `an integer of ${bounds.join(" and ")}`;
}
