import type { ComponentDefinition } from "./definition.ts";
import { isId } from "../ids.ts";
import { unlabel } from "./labelled-value.ts";

/** An app prop with its chosen account. */
export interface AccountProp {
  readonly prop: string;
  /** `apn_…` */
  readonly account: string;
  /** Name slug of the required app; undefined: any. */
  readonly app: string | undefined;
}

/** The account in a value: `{"authProvisionId": "apn_…"}` or the id alone. */
export function accountIdOf(given: unknown): string | undefined {
  const value = unlabel(given, false);
  const id = typeof value === "object" && value !== null && "authProvisionId" in value ? value.authProvisionId : value;
  return typeof id === "string" && isId("account", id) ? id : undefined;
}

/** The accounts in the values of a component's app props. Invalid values are ignored, because value checks report them. */
export function accountPropsOf(definition: ComponentDefinition, values: Readonly<Record<string, unknown>>): readonly AccountProp[] {
  return definition.props.flatMap(({ name, type, app }) => {
    const account = type === "app" && Object.hasOwn(values, name) ? accountIdOf(values[name]) : undefined;
    return account === undefined ? [] : [{ prop: name, account, app }];
  });
}

/** All possible account ids among values of unknown props. */
export function accountIdsAmong(values: Readonly<Record<string, unknown>>): readonly string[] {
  return [...new Set(Object.values(values).flatMap((value) => accountIdOf(value) ?? []))];
}
