import { hasExpression } from "./expressions.ts";

type Values = Readonly<Record<string, unknown>>;

/** Names of the props whose values contain expressions. These values are not known before the step runs, so they cannot be checked. */
export const propsWithExpressions = (props: Values): ReadonlySet<string> =>
  new Set(Object.keys(props).filter((name) => hasExpression(props[name])));

/** The values that are known before the step runs. */
export const knownProps = (props: Values): Values => Object.fromEntries(Object.entries(props).filter(([, value]) => !hasExpression(value)));
