import type { ComponentDefinition } from "./definition.ts";
import { isId } from "./ids.ts";
import { unlabel } from "./labelled-value.ts";

/** An app prop with the account that was chosen for it. */
export interface AccountProp {
  readonly prop: string;
  /** `apn_…` */
  readonly account: string;
  /** Name slug of the app whose account it takes; undefined: any. */
  readonly app: string | undefined;
}

/** The account that a value names: `{"authProvisionId": "apn_…"}` or the id alone. */
export function accountIdOf(given: unknown): string | undefined {
  const value = unlabel(given, false);
  const id = typeof value === "object" && value !== null && "authProvisionId" in value ? value.authProvisionId : value;
  return typeof id === "string" && isId("account", id) ? id : undefined;
}

/** The accounts that a component's app props are given; a value that names none is left to whoever checks values. */
export function accountPropsOf(definition: ComponentDefinition, values: Readonly<Record<string, unknown>>): readonly AccountProp[] {
  return definition.props.flatMap(({ name, type, app }) => {
    const account = type === "app" && Object.hasOwn(values, name) ? accountIdOf(values[name]) : undefined;
    return account === undefined ? [] : [{ prop: name, account, app }];
  });
}

/** Whatever may be an account among values whose props are not known. */
export function accountIdsAmong(values: Readonly<Record<string, unknown>>): readonly string[] {
  return [...new Set(Object.values(values).flatMap((value) => accountIdOf(value) ?? []))];
}
